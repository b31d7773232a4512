"""Varied keys of a sweep: lists of values, ranges and distributions."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.special import ndtri

from ..core.errors import DescriptionError, Problem
from ..core.ranges import finite, numbers_of
from ..core.trajectory import Array
from ..language.suggest import several

MOST_RUNS = 10_000_000
_WORDS = re.compile(r"\s*\w+\s*(,\s*\w+\s*)*")
_CALL = re.compile(r"\s*(\w+)\s*\((.*)\)\s*")
_FORMS = (
    "expected a value, values a,b,c, a range first:last:count, normal(mean, standard deviation) or"
    " uniform(least, most)"
)


@dataclass(frozen=True)
class Values:
    """Varied key with a list of values, one dimension of the parameter grid."""

    key: str
    values: tuple[Any, ...]

    def data(self) -> dict[str, Any]:
        """Return the varied key and its values as data for JSON."""
        return {"key": self.key, "values": list(self.values)}


@dataclass(frozen=True)
class Distribution:
    """Varied key whose values have a normal or uniform distribution.

    `first` and `second` are the mean and the standard deviation, or the lower and the upper bound.
    """

    key: str
    kind: str
    first: float
    second: float

    @property
    def middle(self) -> float:
        """Mean of the distribution."""
        return self.first if self.kind == "normal" else (self.first + self.second) / 2

    def values(self, quantiles: Array) -> Array:
        """Return the values of the distribution at probability levels between 0 and 1.

        The result has the shape of the argument.
        """
        if self.kind == "normal":
            return np.asarray(self.first + self.second * ndtri(quantiles))
        return self.first + (self.second - self.first) * quantiles

    def data(self) -> dict[str, Any]:
        """Return the varied key and its distribution as data for JSON."""
        return {"key": self.key, "distribution": self.kind, "numbers": [self.first, self.second]}

    def __str__(self) -> str:
        return f"{self.kind}({self.first:g}, {self.second:g})"


Variation: TypeAlias = Values | Distribution


def variations(settings: str | Sequence[str] | Mapping[str, Any]) -> tuple[Variation, ...]:
    """Parse varied keys, given as texts `KEY=VALUES` or as a mapping from keys to values.

    Raises
    ------
    DescriptionError
        If keys or values are invalid; the error lists all problems.
    """
    problems, found = list[Problem](), dict[str, Variation]()
    for key, given in _pairs(settings, problems):
        try:
            variation = _variation(key, given)
        except ValueError as error:
            problems.append(Problem(f"--set {key}", str(error)))
            continue
        if key in found:
            problems.append(Problem(f"--set {key}", "occurs twice; combine all values in one option"))
        found[key] = variation
    if not found and not problems:
        problems.append(Problem("--set", f"no key is varied; add one, as in --set payload=100:1000:10; {_FORMS}"))
    if problems:
        raise DescriptionError("sweep", problems)
    return tuple(found.values())


def _pairs(settings: str | Sequence[str] | Mapping[str, Any], problems: list[Problem]) -> list[tuple[str, Any]]:
    if isinstance(settings, Mapping):
        return list(settings.items())
    found = []
    for text in several(settings):
        key, equals, values = text.partition("=")
        if not equals or not key.strip():
            problems.append(Problem(f"--set {text}", f"expected KEY=VALUES; {_FORMS}"))
        else:
            found.append((key.strip(), values))
    return found


def _variation(key: str, given: Any) -> Variation:
    if isinstance(given, str):
        return _read(key, given)
    plain = given.tolist() if hasattr(given, "tolist") else given
    return _values(key, plain if isinstance(plain, list | tuple | range) else [plain])


def _read(key: str, text: str) -> Variation:
    call = _CALL.fullmatch(text)
    if call:
        return _distribution(key, call[1], call[2])
    if text.count(":") == 2:
        return _values(key, numbers_of(text, MOST_RUNS))
    return _values(key, _listed(text))


def _distribution(key: str, kind: str, text: str) -> Distribution:
    if kind not in ("normal", "uniform"):
        raise ValueError(f"unknown distribution {kind!r}; known are: normal, uniform")
    numbers = [finite(part) for part in text.split(",")]
    names = {"normal": "mean, standard deviation", "uniform": "least, most"}[kind]
    if len(numbers) != 2:
        raise ValueError(f"expected two numbers in {kind}({names}), got {len(numbers)}")
    first, second = numbers
    if kind == "normal" and second <= 0.0:
        raise ValueError(f"expected a standard deviation above 0, got {second:g}")
    if kind == "uniform" and second <= first:
        raise ValueError(f"expected a smaller first number in uniform(least, most), got {first:g} and {second:g}")
    return Distribution(key, kind, first, second)


def _listed(text: str) -> list[Any]:
    try:
        return list(tomllib.loads(f"values = [{text}]")["values"])
    except (tomllib.TOMLDecodeError, RecursionError):
        pass
    if _WORDS.fullmatch(text) and any(char.isalpha() for char in text):
        return [_plain(word.strip()) for word in text.split(",")]
    raise ValueError(f"{_FORMS}, got {text.strip()[:80]!r}")


def _plain(word: str) -> Any:
    try:
        return tomllib.loads(f"value = {word}")["value"]
    except tomllib.TOMLDecodeError:
        return word


def _values(key: str, values: Sequence[Any]) -> Values:
    if not len(values):
        raise ValueError(f"expected values of the key, got none; {_FORMS}")
    if len(values) > MOST_RUNS:
        raise ValueError(f"expected at most {MOST_RUNS} values, got {len(values)}")
    for value in values:
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"expected finite numbers, got {value}")
    return Values(key, tuple(values))
