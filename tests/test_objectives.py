"""Objectives of sweeps: figures of known functions, and wrong ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gpmelica.errors import DescriptionError
from gpmelica.sweeps.objectives import objectives

TIME = np.linspace(0.0, 2.0, 2001)


def value(text: str, **signals: Any) -> float:
    """Of an objective."""
    (objective,) = objectives([text])
    return objective.of(TIME, signals)


def test_objectives_of_known_functions() -> None:
    """A decaying exponential, a sine over whole periods, a ramp: closed forms."""
    decay, sine, ramp = np.exp(-4 * TIME), np.sin(2 * np.pi * TIME), 3 * TIME
    assert value("peak(-2*x)", x=decay) == 2.0
    assert value("rms(x)", x=sine) == pytest.approx(math.sqrt(0.5), rel=1e-6)
    assert value("mean(x) + 1", x=sine) == pytest.approx(1.0, abs=1e-12)
    assert value("integral(x)", x=ramp) == pytest.approx(6.0, rel=1e-12)
    assert value("final(x) - start(x)", x=ramp) == 6.0
    assert value("at(x, 0.5)", x=ramp) == pytest.approx(1.5, rel=1e-12)
    assert value("range(x)", x=sine) == pytest.approx(2.0, rel=1e-5)
    assert value("min(x) + max(x)", x=ramp) == 6.0
    assert value("settling(x, 0.01)", x=decay) == pytest.approx(-math.log(0.01 + math.exp(-8)) / 4, abs=1e-3)
    assert value("settling(x, 0.01)", x=sine) == math.inf
    assert value("max(abs(E.x))", E_x=-ramp) == 6.0  # as the description writes it
    assert value("final(sqrt(x^2 + y^2))", x=ramp, y=4 / 3 * ramp) == pytest.approx(10.0, rel=1e-12)
    assert value("max(max(x, y))", x=ramp, y=2 * decay) == 6.0
    assert math.isnan(value("sqrt(min(x))", x=-decay))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("peek(E_z)", "unknown function 'peek'; did you mean 'peak'?"),
        ("peak(E_z", "cannot be read"),
        ("peak(E_z, 2)", "peak takes 1 argument(s), got 2"),
        ("__import__('os')", "unknown function '__import__'"),
        ("peak(E_z.real.imag)", "is not part of it"),
        ("peak(lambda: 1)", "is not part of it"),
        ("", "cannot be read"),
    ],
)
def test_wrong_objectives(text: str, said: str) -> None:
    """What, where, what to do."""
    with pytest.raises(DescriptionError) as caught:
        objectives([text])
    assert said in str(caught.value) and f"--objective {text!r}" in str(caught.value)


def test_objectives_are_numbers() -> None:
    """Parameters are; signals have to be made so."""
    (plain, product, late) = objectives(["E_z", "peak(E_z)/load", "at(E_z, load)"])
    assert plain.problem(["load"]).startswith("changes over time; expected a number, by one of at, final")
    assert product.problem(["load"]) == "" and late.problem(["load"]) == ""
    assert "expected a number as its second argument" in late.problem([])
