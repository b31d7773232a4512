"""Every output of the equations has its counterpart in the reference, and the other way round."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest
from helpers_examples import EXAMPLES
from machines.scales import resized

from gpmelica import reference
from gpmelica.commands.run import reference_run
from gpmelica.errors import SolveError
from gpmelica.generator.description.load import from_data, load
from gpmelica.generator.types.origin import joint_load
from gpmelica.prepared import prepare

INSTANT = 1e-6  # s


def _cases() -> list[tuple[str, str | None]]:
    """Examples as they are, and their last case, which has friction, loops or loads more than that."""
    found: list[tuple[str, str | None]] = []
    for file in sorted(EXAMPLES.glob("*.toml")):
        cases = tomllib.loads(file.read_text(encoding="utf-8")).get("cases", [])
        found += [(file.stem, None), *((file.stem, case["name"]) for case in cases[-1:])]
    return found


@pytest.mark.parametrize(("example", "case"), _cases())
def test_every_output_has_its_counterpart(example: str, case: str | None) -> None:
    """By its name, in both directions; each says what it is."""
    model = prepare(load(EXAMPLES / f"{example}.toml", case))
    run = reference.simulate(model.mechanism, start=model.start, stop=INSTANT, output_step=INSTANT)
    assert set(run.signals) == set(model.units) == set(model.signals)


def test_a_missing_counterpart_stops_the_run() -> None:
    """Before anything is compared, and by name."""
    model = prepare(load(EXAMPLES / "four_bar_3d.toml"))
    shortened = model.chain.simulation.model_copy(update={"stop": INSTANT, "output_step": INSTANT})
    chain = model.chain.model_copy(update={"simulation": shortened})
    new = replace(model.program.outputs[0], signal=joint_load("unheard", "of"))
    program = replace(model.program, outputs=[*model.program.outputs, new])
    model = replace(model, chain=chain, mechanism=replace(model.mechanism, chain=chain), program=program)
    with pytest.raises(SolveError, match=r"not both in the equations and in the reference, .*: unheard_load_of$"):
        reference_run(model, None, lambda what, fraction: None)


@pytest.mark.parametrize(("length", "nominal"), [(1.0, 1.0), (1e-3, 1e-3), (1e3, 1.0)])
def test_small_machines_have_small_tolerances_of_lengths(length: float, nominal: float) -> None:
    """A slide of 1 mm is as much in a machine of 1 cm as one of 1 m in a machine of 10 m."""
    link = {"mass": 1.0, "com": [0.1, 0.0, 0.0], "inertia": [0.1, 0.1, 0.1]}
    slide = link | {"name": "slide", "parent": "ground", "joint": {"type": "prismatic", "axis": [0.0, 0.0, 1.0]}}
    arm = link | {"name": "arm", "parent": "slide", "frame": {"xyz": [5.0, 0.0, 0.0]}}
    data = {
        "schema": 1,
        "name": "Slide",
        "links": [slide, arm | {"joint": {"type": "revolute", "axis": [0.0, 0.0, 1.0]}}],
    }
    states = prepare(from_data(resized(data, 1.0, length))).program.states
    found = {state.name.removesuffix("_state"): state.nominal for state in states}
    assert found["slide_position"] == found["slide_position_dot"] == pytest.approx(nominal)
    assert found["arm_angle"] == found["arm_angle_dot"] == 1.0
