"""Mechanisms on which nothing acts: runs differ by rounding alone, and rounding is no disagreement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_parts import Table, body, link, machine

from gpmelica.analysis.system import System, assemble_system
from gpmelica.description.load import from_data
from gpmelica.options.model import RunOptions
from gpmelica.reference.kinematics.kinematics import Kinematics
from gpmelica.tasks import run as verify

_BODY = body(1.0, [0.3, 0.1, 0.2], [0.1, 0.2, 0.3])


def locked(**tables: Any) -> Table:
    """Two skew joints whose last link is fixed to the ground where it stands; no gravity."""
    first = link("first", "revolute", [0.0, 0.0, 1.0], position=0.3) | _BODY
    where: Table = {"xyz": [1.0, 0.2, 0.1], "rpy": [0.3, 0.2, 0.1], "position": 0.3}
    second = link("second", "revolute", [0.6, 0.0, 0.8], "first", **where) | _BODY
    still = {"gravity": [0.0, 0.0, 0.0], "simulation": {"stop": 1.0}, "outputs": {"loads": "all"}}
    loose = assemble_system(from_data(machine(first, second, **still))).mechanism
    place = Kinematics(loose)(np.array([0.3, 0.3]), np.zeros(2)).T[:, 2]
    lock = {"name": "lock", "type": "fixed", "a": {"link": "second"}}
    lock |= {"b": {"link": "ground", "matrix": place.tolist()}}
    return machine(first, second, closures=[lock], **still) | tables


def sprung(**tables: Any) -> Table:
    """A link on a stiff oblique spring at its rest length; no gravity."""
    arm = link("arm", "revolute", [0.6, 0.0, 0.8], xyz=[0.1, 0.2, 0.3], position=0.3) | _BODY
    spring = {"name": "leg", "a": {"link": "ground", "point": [0.7, 0.1, 0.2]}, "stiffness": 1e4, "rest": 0.0}
    spring |= {"b": {"link": "arm", "point": [0.1, 0.7, 0.3]}}
    still = {"gravity": [0.0, 0.0, 0.0], "simulation": {"stop": 1.0}, "outputs": {"loads": "all"}}
    table = machine(arm, lines=[spring], **still) | tables
    mechanism = assemble_system(from_data(table | {"lines": []})).mechanism
    place = Kinematics(mechanism)(np.array([0.3]), np.zeros(1)).T[:, 1]
    end = place[:3, :3] @ [0.1, 0.7, 0.3] + place[:3, 3]
    spring["rest"] = float(np.linalg.norm(end - [0.7, 0.1, 0.2]))
    return table


def verdict(model: System, out: Path, **options: Any) -> verify.RunReport:
    """Run everything."""
    return verify.run(model, RunOptions(out, compiler="native", **options))


@pytest.mark.slow
@pytest.mark.parametrize(
    "table", [pytest.param(locked(), id="locked", marks=pytest.mark.campaign), pytest.param(sprung(), id="sprung")]
)
def test_rounding_alone_is_no_disagreement(table: Table, tmp_path: Path) -> None:
    report = verdict(assemble_system(from_data(table)), tmp_path)
    errors = {run.name: (run.worst_signal, run.max_rel_error) for run in report.comparisons}
    assert report.ok, errors
