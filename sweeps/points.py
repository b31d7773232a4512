"""The values of every run: all combinations of the grid's values, each with all samples of the distributions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import qmc

from ..core.errors import DescriptionError, MissingToolError, Problem
from ..core.trajectory import Array
from .variations import MOST_RUNS, Distribution, Values, Variation


@dataclass(frozen=True)
class SweepPoints:
    """All runs, by their numbers from 0: the grid's first key varies slowest, samples vary fastest.

    Parameters:
        axes           keys of the grid with their values
        distributions  keys that are drawn
        quantiles      of the samples, shape (samples, len(distributions)), between 0 and 1
    """

    axes: tuple[Values, ...]
    distributions: tuple[Distribution, ...]
    quantiles: Array

    @property
    def keys(self) -> tuple[str, ...]:
        """Everything that varies, the grid first."""
        return (*(axis.key for axis in self.axes), *(d.key for d in self.distributions))

    def __len__(self) -> int:
        return math.prod(len(axis.values) for axis in self.axes) * len(self.quantiles)

    def at(self, run: int) -> dict[str, Any]:
        """Key → value of one run."""
        place, sample = divmod(run, len(self.quantiles))
        indices = np.unravel_index(place, [len(axis.values) for axis in self.axes]) if self.axes else ()
        found = {axis.key: axis.values[int(i)] for axis, i in zip(self.axes, indices, strict=True)}
        row = self.quantiles[sample]
        return found | {d.key: float(d.values(row[j])) for j, d in enumerate(self.distributions)}


def points(variations: Sequence[Variation], samples: int | None, sampler: str, seed: int) -> SweepPoints:
    """Grid and samples.

    Parameters:
        samples  number of samples for each point of the grid; of `saltelli` and `morris` as many times the keys
                 that are drawn and 2, or 1, more
        sampler  one of `SAMPLERS`
        seed     the same one gives the same samples

    Raises DescriptionError for what does not go together or comes to too many runs.
    """
    axes = tuple(v for v in variations if isinstance(v, Values))
    drawn = tuple(v for v in variations if isinstance(v, Distribution))
    _check(drawn, samples, sampler, seed, math.prod(len(axis.values) for axis in axes))
    quantiles = SAMPLERS[sampler](samples or 1, len(drawn), seed) if drawn else np.empty((1, 0))
    found = SweepPoints(axes, drawn, quantiles)
    _few_enough(len(found))
    return found


def _check(drawn: Sequence[Distribution], samples: int | None, sampler: str, seed: int, grid: int) -> None:
    problems = []
    if seed < 0:
        problems.append(Problem("--seed", f"expected 0 or more, got {seed}"))
    if sampler not in SAMPLERS:
        problems.append(Problem("--sampler", f"expected one of {', '.join(SAMPLERS)}, got {sampler!r}"))
    if drawn and samples is None:
        text = f"{drawn[0].key} is drawn from {drawn[0]}; say how many samples, as in --samples 500"
        problems.append(Problem("--samples", text))
    if samples is not None and not drawn:
        text = "nothing is drawn; give a key a distribution, as in --set payload=normal(500,50)"
        problems.append(Problem("--samples", text))
    if samples is not None and samples < 1:
        problems.append(Problem("--samples", f"expected 1 or more, got {samples}"))
    if problems:
        raise DescriptionError("sweep", problems)
    _few_enough(grid * (samples or 1))


def _few_enough(runs: int) -> None:
    if runs > MOST_RUNS:
        raise DescriptionError("sweep", [Problem("--set", f"expected at most {MOST_RUNS} runs, got {runs}")])


def _sobol(samples: int, dimensions: int, seed: int) -> Array:
    with warnings.catch_warnings():  # of numbers that are no powers of 2; their balance is not relied on
        warnings.simplefilter("ignore", UserWarning)
        return np.asarray(qmc.Sobol(dimensions, scramble=True, seed=seed).random(samples))


def _latin(samples: int, dimensions: int, seed: int) -> Array:
    return np.asarray(qmc.LatinHypercube(dimensions, seed=seed).random(samples))


def _random(samples: int, dimensions: int, seed: int) -> Array:
    return np.random.default_rng(seed).random((samples, dimensions))


def unit_problem(dimensions: int) -> dict[str, Any]:
    """Quantiles as SALib wants to know of them."""
    names = [f"x{i}" for i in range(dimensions)]
    return {"num_vars": dimensions, "names": names, "bounds": [[0.0, 1.0]] * dimensions}


def _saltelli(samples: int, dimensions: int, seed: int) -> Array:
    """Saltelli's design for Sobol indices of first and total order: samples·(dimensions + 2) rows."""
    salib()
    from SALib.sample import sobol

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = sobol.sample(unit_problem(dimensions), samples, calc_second_order=False, seed=seed)
    return np.asarray(np.clip(drawn, 1e-12, 1.0 - 1e-12))


def _morris(samples: int, dimensions: int, seed: int) -> Array:
    """Morris' trajectories on levels 1/8, 3/8, 5/8 and 7/8: samples·(dimensions + 1) rows."""
    salib()
    from SALib.sample import morris

    drawn = morris.sample(unit_problem(dimensions), samples, num_levels=4, seed=seed)
    return np.asarray(0.125 + 0.75 * drawn)  # the ends of a normal distribution are infinite


def salib() -> None:
    """Raise MissingToolError without SALib."""
    try:
        import SALib  # noqa: F401
    except ImportError:
        raise MissingToolError(
            "the samplers saltelli and morris need SALib; pip install 'gpmelica[sweep]', or take another --sampler"
        ) from None


SAMPLERS: dict[str, Callable[[int, int, int], Array]] = {
    "sobol": _sobol,
    "lhs": _latin,
    "random": _random,
    "saltelli": _saltelli,
    "morris": _morris,
}
