"""Forces of programmed constraints on coordinates without drives."""

from __future__ import annotations

import pytest
from helpers_parts import Table, Z, body, link, machine
from helpers_problem import simulate

from gpmelica import analysis
from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import DescriptionError
from gpmelica.description.load import from_data

LIFTED = 50.0  # kg, on a sprung base of 100 kg
WEIGHT = LIFTED * 9.81  # N


def _lift(**tables: object) -> Table:
    """A lift on a sprung base that moves along z only."""
    places = [[x, y, 0.0] for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    supports = [{"position": place, "stiffness": [1e4, 1e4, 2500.0]} for place in places]
    base = {"mass": 100.0, "inertia": [50.0] * 3, "supports": supports}
    lift = link("lift", "prismatic", Z, position=1.0) | body(LIFTED) | {"parent": "base"}
    return machine(lift, base=base, points={"tip": {"link": "lift"}}, **tables)


HOLD = {"name": "hold", "expression": "tip.z - start(tip.z)"}


def _forces(data: Table) -> dict[str, float]:
    model = assemble_system(from_data(data))
    return analysis.guide_forces(model.problem, simulate(model.mechanism, stop=0.1, output_step=0.01))


def test_a_guide_carries_the_weight_beside_the_base() -> None:
    """A tip at rest in the world: the guide carries the lift, so the base rises with its weight missing."""
    assert _forces(_lift(programmed=[HOLD])) == pytest.approx({"base.z": WEIGHT})


def test_a_motion_of_a_joint_is_realised_by_its_drive() -> None:
    assert _forces(_lift(motions=[{"name": "hold", "joint": "lift", "position": 1.0}])) == {}


def test_the_message_about_drives_names_a_remedy() -> None:
    """A drive of the lift alone cannot keep a tip at rest in the world, because the base moves."""
    keys = {"constraints": {"actuated": ["lift"]}}
    with pytest.raises(DescriptionError, match=r"effort on base\.z; no drive can act there"):
        assemble_system(from_data(_lift(programmed=[HOLD], **keys)))
