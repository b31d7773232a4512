"""The oracle: a second derivation that shares nothing with production, and its checks of the start."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_oracle import Oracle, oracle_run, relative_errors
from helpers_parts import X, Z, body, link, machine
from machines.derivations import _reference as reference_outputs
from machines.second_opinion import second_opinion

from gpmelica.analysis.start import statics
from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.progress import Progress, silent
from gpmelica.core.trajectory import Event, Trajectory
from gpmelica.description.load import from_data, load
from gpmelica.description.tables.task import Path as DescribedPath
from gpmelica.description.types.closures import CLOSURE_TYPES, DEFORMATIONS, Condition
from gpmelica.mechanism import builder, rfem
from gpmelica.oracle.checks.start import check_start
from gpmelica.oracle.constraints.paths import legs
from gpmelica.oracle.expressions.sides import Condition as SwitchingCondition
from gpmelica.oracle.runs.margins import Margins
from gpmelica.oracle.runs.simulate import simulate
from gpmelica.runs.compare.compare import compare
from gpmelica.runs.compare.findings import Finding, agreement, start_consistency
from gpmelica.runs.fmpy_runs.states import further_states
from gpmelica.tasks import second_opinion as second_opinion_command
from gpmelica.tasks.reference_run import reference_run
from gpmelica.tasks.second_opinion import Opinion, asked, given

EXAMPLES = Path(__file__).parents[1] / "examples"
FILES = sorted(EXAMPLES.rglob("*.toml"))


def _cases(path: Path) -> list[str | None]:
    return [None, *(case["name"] for case in tomllib.loads(path.read_text("utf-8")).get("cases", []))]


def _states(model: System, seed: int) -> list[tuple[float, Any, Any, Any]]:
    """Return three states near the start: time, positions, rates, states of friction, filters and controllers."""
    rng, (q, qd) = np.random.default_rng(seed), model.start
    coordinates = model.mechanism.coordinates
    size = np.array([1.0 if c.role == "joint" else 1e-3 for c in coordinates])
    bristles = [1e-3] * sum(c.friction is not None for c in coordinates)
    internal = [0.05] * (len(further_states(model)) - len(bristles))
    return [
        (
            t,
            q + 0.02 * size * rng.normal(size=len(q)),
            qd + 0.1 * size * rng.normal(size=len(q)),
            np.array([*bristles, *internal]) * rng.normal(size=len(bristles) + len(internal)),
        )
        for t in (0.13, 0.7, 1.3)
    ]


# ---- agreement --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_outputs_agree_in_random_states(path: Path) -> None:
    """Accelerations, efforts, joint loads, energies, …: all outputs of the first and the last case."""
    for case in {_cases(path)[0], _cases(path)[-1]}:
        model = assemble_system(load(path, case))
        if model.chain.constraints.redundant == "minimum_norm":
            continue  # beside the constraints the combination of equations is arbitrary
        oracle = Oracle(model)
        for t, q, qd, z in _states(model, 5):
            inputs = {entry.name: float(entry.start) + 0.1 for entry in model.program.inputs}
            exact = reference_outputs(model, (t, q, qd, z), inputs)
            if exact:
                errors = relative_errors(model, exact, oracle.outputs(t, q, qd, z, inputs))
                assert max(errors.values()) < 1e-9, max(errors, key=lambda name: errors[name])


@pytest.mark.parametrize("seed", range(2000, 2012))
def test_random_mechanisms_agree(seed: int) -> None:
    """Odd seeds are held against Pinocchio, even ones, with every key, against the reference; see benchmarks."""
    assert second_opinion(seed).faults == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "case"),
    [
        ("four_bar_3d", None),
        pytest.param("excavator_arm", "digs", marks=pytest.mark.campaign),
        ("crane", "rigid_boom_dahl"),
    ],
)
def test_trajectories_agree(example: str, case: str | None) -> None:
    """Runs and event times; friction begins with its own states."""
    model = assemble_system(load(EXAMPLES / f"{example}.toml", case))
    truth = reference_run(model, None, silent)
    run = oracle_run(model)
    found = compare(truth, run, model.units, 1e-6, complete=True)
    assert found.ok, (found.max_rel_error, found.worst_signal, found.note)
    known = [[e for e in one.events if not e.word.startswith("would")] for one in (run, truth)]
    assert [e.label for e in known[0]] == [e.label for e in known[1]]
    times = [[event.t for event in events] for events in known]
    assert np.abs(np.subtract(*times)).max(initial=0.0) < 1e-6


@pytest.mark.slow
def test_short_pulses_are_not_stepped_over() -> None:
    """A blow of 1 N·s in a microsecond gives a mass of 2 kg the speed 0.5 m/s, however long the run is."""
    width = 1e-6
    effort = f"exp(-((t - 1.2345)/{width})^2)/({width}*sqrt(pi))"
    force = {"name": "blow", "joint": "mass", "effort": effort}
    data = machine(link("mass", "prismatic", X) | body(2.0), forces=[force])
    data["simulation"] = {"stop": 20.0, "output_step": 0.5, "start": "description"}
    run = oracle_run(assemble_system(from_data(data)))
    assert run.signals["mass_position_dot"][-1] == pytest.approx(0.5, rel=1e-7)
    assert run.signals["mass_position_dot"][2] == pytest.approx(0.0, abs=1e-9)


# ---- checks of the start ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_oracle_has_no_findings_for_the_examples(path: Path) -> None:
    """Each case starts in accordance with the description and the laws of mechanics."""
    for case in _cases(path):
        assert check_start(*given(assemble_system(load(path, case)))) == ()


@pytest.fixture(scope="module")
def four_bar() -> System:
    """Planar linkage with spatial joints: three redundant constraints."""
    return assemble_system(load(EXAMPLES / "four_bar_3d.toml"))


def _said(model: System, **changes: Any) -> str:
    data, claims = given(model)
    return "; ".join(check_start(data, replace(claims, **changes)))


def test_wrong_rank_is_named(four_bar: System) -> None:
    """By one more, and by one less."""
    for rank in (1, 3):
        assert f"have rank 2, not {rank}" in _said(four_bar, rank=rank)


def test_wrong_choice_of_redundant_constraints_is_named(four_bar: System) -> None:
    """Equations that depend on each other, or that leave one out that they do not imply."""
    assert "linearly dependent: pin_x, pin_z" in _said(four_bar, kept=("pin_x", "pin_z"))
    assert "pin_y is omitted as redundant" in _said(four_bar, kept=("pin_x",))


def test_reactions_that_are_not_unique_are_named(four_bar: System) -> None:
    """Redundant spatial joints share what acts across the plane."""
    assert "the reaction of pin is claimed to be unique" in _said(four_bar, unique={"pin": True})
    assert _said(four_bar, unique={"pin": False}) == ""


def test_open_loops_and_other_branches_are_named(four_bar: System) -> None:
    """The mirrored linkage is closed as well, but not near the described position."""
    start = dict(given(four_bar)[1].start)
    opened = start | {"crank_angle": start["crank_angle"] + 1e-3}
    assert "closure pin is open by" in _said(four_bar, start=opened)
    mirrored = _mirrored(start)
    assert "another assembly mode than the described position" in _said(four_bar, start=mirrored)


def _mirrored(start: dict[str, float]) -> dict[str, float]:
    """Return the four-bar linkage's start, reflected about the line from the crank's end to the rocker's foot."""
    crank, coupler = start["crank_angle"], start["coupler_angle"]
    end = 0.3 * np.array([np.cos(crank), np.sin(crank)])
    diagonal = np.arctan2(-end[1], 0.9 - end[0])
    turned = 2.0 * diagonal - (crank + coupler)
    tip = end + np.array([np.cos(turned), np.sin(turned)])
    rocker = np.arctan2(tip[1], tip[0] - 0.9)
    still = {name: 0.0 for name in start if name.endswith("_dot")}
    return start | still | {"coupler_angle": turned - crank, "rocker_angle": float(rocker)}


def test_velocities_that_constraints_forbid_are_named(four_bar: System) -> None:
    """The rocker has to follow the crank."""
    start = dict(given(four_bar)[1].start) | {"rocker_angle_dot": 0.0}
    assert "the initial velocities violate pin_" in _said(four_bar, start=start)


def test_forces_out_of_balance_are_named() -> None:
    """A base that is 0.1 mm too high is no equilibrium."""
    model = assemble_system(load(EXAMPLES / "crane.toml", "rigid_boom"))
    start = dict(given(model)[1].start)
    said = _said(model, start=start | {"base_z": start["base_z"] + 1e-4})
    assert "the initial state is not a static equilibrium" in said
    assert "base.z" in said
    assert "statics.locked names it" in _said(model, held=("column.angle", "boom.angle"))


# ---- faults of production ---------------------------------------------------------------------------------------


def _verdict(model: System, progress: Progress = silent) -> tuple[Finding, bool, float]:
    """Return the consistency with the oracle's opinion, whether its run agrees, and its error."""
    with asked(model, None, 1e-6, progress) as opinion:
        truth = reference_run(model, None, silent)
        found = opinion()
    (attempt,) = found.attempts
    assert attempt.trajectory is not None
    compared = compare(truth, attempt.trajectory, model.units, 1e-6, complete=True)
    return found.of_start(start_consistency(model)), compared.ok, compared.max_rel_error


def _cantilever() -> dict[str, Any]:
    """A flexible beam on a slide that a path lifts."""
    beam = {"length": 1.0, "area": 1e-4, "density": 2700.0, "E": 7e10, "G": 2.6e10}
    beam |= {"Iy": 1e-9, "Iz": 1e-9, "J": 2e-9, "damping_time": 1e-3, "elements": 3}
    arm = {"name": "arm", "parent": "ground", "beam": beam, "joint": {"type": "prismatic", "axis": Z}}
    data = machine(arm)
    data["points"] = {"E": {"link": "arm", "position": [0.0, 0.0, 0.0]}}
    path = {"point": "E", "components": ["z"], "waypoints": [[0, 0, 0], [0, 0, 0.1]], "leg_time": 0.2}
    data["programmed"] = [{"name": "lift", "path": path}]
    data["statics"] = {"locked": ["arm"]}
    data["simulation"] = {"stop": 0.3, "output_step": 0.02}
    return data


def _prepared() -> System:
    return assemble_system(from_data(_cantilever()))


@pytest.mark.slow
def test_the_machine_of_the_mutants_is_right() -> None:
    """Without a fault both findings are good; while the run waits for the oracle, its progress is shown."""
    seen: list[tuple[str, float]] = []
    consistent, agrees, error = _verdict(_prepared(), lambda *report: seen.append(report))
    assert {name for name, _ in seen} == {"oracle"}
    parts = [part for _, part in seen]
    assert parts == sorted(parts)
    assert 0.0 < parts[-1] <= 1.0
    assert consistent.ok, consistent.text
    assert agrees, error


@pytest.mark.slow
def test_a_wrong_beam_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """One stiffness of production's beams is 1 % off; its own runs and FMUs share that."""
    right = rfem.stiffnesses
    monkeypatch.setattr(rfem, "stiffnesses", lambda *of: tuple(1.01 * k for k in right(*of)))
    consistent, agrees, _ = _verdict(_prepared())
    assert not agrees
    assert "not a static equilibrium" in consistent.text


def test_a_wrong_row_of_the_closures_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A revolute closure that lets another axis free."""
    wrong = (*CLOSURE_TYPES["revolute"][:4], Condition("between", 2, 0))
    monkeypatch.setitem(CLOSURE_TYPES, "revolute", wrong)
    said = "; ".join(check_start(*given(assemble_system(load(EXAMPLES / "four_bar_3d.toml")))))
    assert "equation pin_zx does not follow from the description" in said
    assert "equation pin_yz, which the description asks for, is missing" in said


@pytest.mark.slow
def test_a_wrong_order_of_deformations_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Springs of replacement joints about one another's axes."""
    right = DEFORMATIONS["local"]
    monkeypatch.setitem(DEFORMATIONS, "local", (*right[:3], right[4], right[3], right[5]))
    data = machine(link("top", "spherical", position=[0.1, 0.2, 0.3]) | body(2.0))
    ends = {"a": {"link": "ground"}, "b": {"link": "top"}}
    springs = [0.0, 0.0, 0.0, 10.0, 40.0, 90.0]
    data["closures"] = [{"name": "soft", "type": "fixed", "model": "spring_damper", "stiffness": springs} | ends]
    data["simulation"] = {"stop": 0.3, "output_step": 0.02, "start": "description"}
    assert not _verdict(assemble_system(from_data(data)))[1]


@pytest.mark.slow
def test_a_wrong_timing_of_paths_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Legs that last 1 % longer."""
    right = DescribedPath.legs
    monkeypatch.setattr(DescribedPath, "legs", lambda *of: [(t, 1.01 * d) for t, d in right(*of)])
    assert not _verdict(_prepared())[1]


@pytest.mark.slow
def test_a_wrong_balance_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Production's search for the equilibrium with gravity the wrong way."""
    right = statics.equilibrium_near
    monkeypatch.setattr(statics, "equilibrium_near", lambda model, q: -right(model, q))
    consistent, _, _ = _verdict(_prepared())
    assert not consistent.ok
    assert "not a static equilibrium" in consistent.text


@pytest.mark.slow
def test_a_wrong_mass_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A top whose mass is 1 % off."""
    right = builder._Builder._inertial

    def wrong(self: Any, *of: Any, **named: Any) -> Any:
        mass, com, moments = right(self, *of, **named)
        return 1.01 * mass, com, moments

    data = machine(link("top", "spherical", position=[0.1, 0.2, 0.3], velocity=[1.0, 2.0, 3.0]) | body(2.0))
    data["links"][0] |= {"com": [0.1, 0.0, 0.2], "inertia": [[1.0, 0.2, 0.0], [0.2, 1.2, 0.1], [0.0, 0.1, 0.9]]}
    data["simulation"] = {"stop": 0.3, "output_step": 0.02, "start": "description"}
    assert _verdict(assemble_system(from_data(data)))[1]
    monkeypatch.setattr(builder._Builder, "_inertial", wrong)
    assert not _verdict(assemble_system(from_data(data)))[1]


# ---- events -----------------------------------------------------------------------------------------------------


def _with_events(*times: float) -> Trajectory:
    events = tuple(Event(t, "contact deck", k % 2 == 0, "touches") for k, t in enumerate(times))
    return Trajectory("run", np.linspace(0.0, 1.0, 11), {"x": np.zeros(11)}, events=events)


def test_legs_of_a_path_overlap_by_their_blend_times() -> None:
    """Each leg begins before the last one ends; a trapezoidal speed rises for a quarter of a leg unless told."""
    table = {"waypoints": np.zeros((4, 3)).tolist(), "leg_time": [1.0, 2.0, 3.0], "blend_time": [0.2, 0.3]}
    found = legs(table | {"profile": "trapezoidal", "ramp": None})
    assert [leg.begin for leg in found] == pytest.approx([0.0, 0.8, 2.5])
    assert [leg.duration for leg in found] == [1.0, 2.0, 3.0]
    assert [leg.ramp for leg in found] == [0.25, 0.25, 0.25]


@pytest.mark.parametrize("growth", [1.0, 3.0, 10.0])
@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_margins_that_touch_zero_within_a_step_are_not_clear(growth: float, place: float) -> None:
    """A parabola that is zero within the last step may hide two changes; a parabola far above zero hides none."""
    times = np.array([-1.0 / growth, 0.0, 1.0])

    def are_clear(least: float) -> bool:
        margins = Margins()
        seen = [{"gap": SwitchingCondition("gap", ("", ""), least + (t - place) ** 2, False)} for t in times]
        return [margins.are_clear(each) for each in seen][-1]

    assert not are_clear(0.0)
    assert are_clear(20.0)


@pytest.mark.slow
def test_short_contacts_between_two_steps_are_found() -> None:
    """An oscillator touches a wall, which is too soft to disturb it, for a hundredth of each period of 1 s."""
    spring = {"name": "spring", "joint": "mass", "effort": f"-{4 * np.pi**2}*mass.position"}
    wall = {"name": "wall", "link": "mass", "stiffness": 1e-9}
    wall["plane"] = {"point": [-0.9995, 0.0, 0.0], "normal": X}
    data = machine(link("mass", "prismatic", X, position=1.0), forces=[spring], contacts=[wall])
    simulation = {"stop": 20.0, "output_step": 0.5, "start": "description", "tolerance": 1e-6}
    run = oracle_run(assemble_system(from_data(data | {"gravity": [0.0, 0.0, 0.0], "simulation": simulation})))
    half = np.arccos(0.9995) / (2 * np.pi)
    expected = [k + 0.5 + side * half for k in range(20) for side in (-1, 1)]
    assert [event.t for event in run.events] == pytest.approx(expected, abs=1e-4)


def test_an_objection_makes_the_start_inconsistent() -> None:
    """A start that production finds consistent is not if the oracle objects; the objection is the text."""
    fine = Finding(True, "All constraints are fulfilled at t = 0.")
    assert Opinion((), ()).of_start(fine) == fine
    assert Opinion(("closure pin is open",), ()).of_start(fine) == Finding(False, "closure pin is open")


def test_event_times_are_compared() -> None:
    """A later event, or one that the other run has not, is named; a grazed one is not."""
    attempts = Oracle.attempts_of(_with_events(0.3))
    opinion = Opinion((), attempts)
    assert opinion.of_events(_with_events(0.3 + 1e-6), 1.0) == ()
    assert len(opinion.of_events(_with_events(0.31), 1.0)) == 2
    assert opinion.of_events(_with_events(0.31), 0.2) == ()
    assert "only the oracle has the event at t = 0.3 s" in opinion.of_events(_with_events(), 1.0)[0]
    grazed = Opinion((), Oracle.attempts_of(_with_events(0.3, 0.3001)))
    assert grazed.of_events(_with_events(), 1.0) == ()


def test_a_verdict_without_the_oracle_says_so(monkeypatch: pytest.MonkeyPatch, four_bar: System) -> None:
    """If the oracle's time is over before it has a run, the line *agrees* says that nothing confirms it."""
    monkeypatch.setattr(second_opinion_command, "LIMIT", 0.0)
    with asked(four_bar, None, 1e-6) as opinion:
        found = opinion()
    assert found.attempts == ()
    run = _with_events()
    alone = [compare(run, replace(run, name="fmu"), {"x": "m"}, 1e-6)]
    text = agreement(alone, 1.0, found.absent).text
    assert "The oracle does not confirm the agreement, because it has no run: its process did not finish" in text
    assert "confirm" not in agreement(alone, 1.0).text


@pytest.mark.slow
def test_simulate_is_given_plain_data() -> None:
    """The oracle sees dictionaries, lists, numbers and text alone."""
    data, claims = given(_prepared())

    def is_plain(value: Any) -> bool:
        if isinstance(value, dict):
            return all(map(is_plain, value.values()))
        if isinstance(value, list):
            return all(map(is_plain, value))
        return value is None or type(value) in (bool, int, float, str)

    assert is_plain(data)
    assert simulate(data, claims).signals.keys() == solving.simulate(_prepared().mechanism).signals.keys()
