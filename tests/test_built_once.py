"""A run builds mechanism, equations, partition, Modelica source and C code once each and passes them along."""

from __future__ import annotations

from collections import Counter
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from helpers_examples import EXAMPLES

import gpmelica as gp
from gpmelica.fmu.backends import native
from gpmelica.generator import equations, modelica
from gpmelica.mechanism import builder
from gpmelica.reference.solve import solver
from gpmelica.reference.solve.model import ReferenceModel

COUNTED: dict[str, tuple[Any, str]] = {
    "mechanism": (builder._Builder, "__init__"),
    "reference model": (ReferenceModel, "__init__"),
    "choice of constraint equations": (solver, "choose_rows"),
    "derivation": (equations, "derive"),
    "Modelica source": (modelica, "render"),
    "C code": (native, "generate"),
}


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Number of calls of each constructor since the fixture was set up."""
    found: Counter[str] = Counter()
    for label, (owner, name) in COUNTED.items():
        monkeypatch.setattr(owner, name, _counting(found, label, getattr(owner, name)))
    return found


def _counting(found: Counter[str], label: str, original: Any) -> Any:
    @wraps(original)
    def counted(*args: Any, **options: Any) -> Any:
        found[label] += 1
        return original(*args, **options)

    return counted


@pytest.mark.slow
def test_a_run_builds_everything_once(counts: Counter[str], tmp_path: Path) -> None:
    """The crane: the mechanism as numbers and as symbols, the model without and with its initial state."""
    model = gp.load(EXAMPLES / "crane.toml", simulation={"stop": 0.02})
    assert model.run(tmp_path, rumoca=False, compiler="native").ok
    assert counts == {
        "mechanism": 2,
        "reference model": 2,
        "choice of constraint equations": 1,
        "derivation": 1,
        "Modelica source": 1,
        "C code": 1,
    }


def test_everything_but_runs_needs_no_second_build(counts: Counter[str]) -> None:
    """The equations, reactions, modes, notes and remarks of a mechanism with loops share one model."""
    model = gp.load(EXAMPLES / "four_bar_3d.toml")
    summary = model.check()
    assert summary.data()["rank"] == 2
    assert model.reactions().redundancy == 3
    assert model.modelica() == model.modelica()
    assert counts["mechanism"] == 2
    assert counts["choice of constraint equations"] == 1
    assert counts["Modelica source"] == 1
    # a third model: velocities that the loop allows, which are sought before the initial state is known
    assert counts["reference model"] == 3
