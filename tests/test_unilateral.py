"""Unilateral forces: no force without overlap, and the contact law of Hunt and Crossley."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_backends import CompileData
from helpers_parts import Table, X, Z, body, link, machine
from helpers_problem import evaluate, simulate
from helpers_reference import mechanism_of
from helpers_stages import StagedModel
from scipy.optimize import brentq
from scipy.special import gamma

import gpmelica as gp
from gpmelica.analysis import ReferenceModel
from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import DescriptionError
from gpmelica.core.trajectory import Trajectory
from gpmelica.description.load import from_data
from gpmelica.runs import rumoca as rumoca_backend
from gpmelica.runs.fmpy_runs import simulate as runs

ROPE = {"name": "rope", "a": {"link": "ground"}, "b": {"link": "mass"}, "tension_only": True}
SPRING = {"stiffness": 1000.0, "damping": 3000.0}
HERTZ = {"exponent": 1.5, "loss": 0.2}


def _described(**tables: Any) -> dict[str, Any]:
    return tables | {"simulation": {"start": "description"} | tables.pop("simulation", {})}


def _slack_rope() -> Table:
    """A rope of 1 m, 0.2 m shorter than that, whose end moves away at 1 m/s."""
    mass = link("mass", "prismatic", X, position=0.8, velocity=1.0)
    return machine(mass, **_described(lines=[ROPE | SPRING | {"rest": 1.0}], gravity=[0.0, 0.0, 0.0]))


def _support_in_the_air() -> Table:
    """A base 0.10 m above its one-sided support, which it nears at 1 m/s."""
    support = {"position": [0.0, 0.0, 0.0], "stiffness": [1e3] * 3, "damping": [3e3] * 3, "one_sided": True}
    base = body(10.0) | {"supports": [support]}
    lift = link("ballast", "prismatic", Z, "base", velocity=0.0)
    return machine(lift, base=base, gravity=[0.0, 0.0, 0.0], simulation={"start": "description"})


def test_slack_rope_exerts_nothing() -> None:
    """A damper does not pull while the rope is shorter than at rest, in both derivations."""
    model = assemble_system(from_data(_slack_rope()))
    state = (0.0, np.array([0.8]), np.array([1.0]))
    assert evaluate(model.mechanism, *state).qdd == pytest.approx([0.0], abs=0.0)
    assert StagedModel(model)(*state, {}).qdd == pytest.approx([0.0], abs=0.0)


def test_support_in_the_air_exerts_nothing() -> None:
    """A damper does not press before the support meets the ground, in both derivations."""
    model = assemble_system(from_data(_support_in_the_air()))
    q, qd = np.zeros(7), np.zeros(7)
    q[2], qd[2] = 0.1, -1.0
    assert not evaluate(model.mechanism, 0.0, q, qd).qdd.any()
    assert not StagedModel(model)(0.0, q, qd, {}).qdd.any()


def _yard(law: Table | None) -> Table:
    """A block that falls on a plane, hangs on a rope and slides into stops, on a base on one-sided supports."""
    pressing = {"stiffness": 4e4} | ({"damping": 150.0} if law is None else {"law": law})
    damping = [50.0, 50.0, 150.0 if law is None else 0.0]
    smooth = {} if law is None else {"law": law}
    corners = [[x, y, 0.0] for x in (1.0, -1.0) for y in (1.0, -1.0)]
    supports = [
        {"position": p, "stiffness": [3e4] * 3, "damping": damping, "one_sided": True} | smooth for p in corners
    ]
    base = body(100.0, inertia=[50.0, 50.0, 50.0]) | {"supports": supports}
    slide = link("slide", "prismatic", X, "base", velocity=1.0, limits={"lower": -0.2, "upper": 0.2} | pressing)
    mass = link("mass", "prismatic", Z, "slide", position=0.3)
    contact = {"name": "deck", "link": "mass", "plane": {"point": [0.0, 0.0, 0.1]}} | pressing
    rope = ROPE | {"stiffness": 2e4, "damping": 100.0, "rest": 0.25}
    pull = {"name": "pull", "link": "base", "force": [0, 0, "1500 if t < 0.2 else 0"]}
    simulation = {"start": "description", "stop": 0.8, "output_step": 0.004, "tolerance": 1e-9}
    return machine(slide, mass, base=base, contacts=[contact], lines=[rope], forces=[pull], simulation=simulation)


def _check_slack_is_free(signal: Any) -> None:
    """No force at an output time at which there is no overlap; each acts at times."""
    overlaps = {
        "deck_force": -signal("deck_gap"),
        "rope_force": signal("rope_length") - 0.25,
        "support1_force": -signal("support1_gap"),
    }
    for name, overlap in overlaps.items():
        force = signal(name)
        assert np.all(force[overlap < 0.0] == 0.0)
        assert np.all(force >= -1e-6 * force.max())
        assert 0 < np.count_nonzero(force) < len(force)


LAWS = pytest.mark.parametrize("law", [None, HERTZ], ids=["damper", "hunt-crossley"])


@pytest.mark.slow
@LAWS
def test_slack_elements_do_no_work_in_the_reference(law: Table | None) -> None:
    """Through touch-down, rebound and lift-off of all elements."""
    run = simulate(mechanism_of(_yard(law)))
    _check_slack_is_free(run.signals.__getitem__)


@pytest.mark.slow
@LAWS
@pytest.mark.parametrize("mode", ["me", "cs"])
def test_slack_elements_do_no_work_in_the_fmu(
    law: Table | None, mode: runs.Mode, compile_data: CompileData
) -> None:
    """The FMU agrees with the reference solver, and its slack elements exert nothing either."""
    data = _yard(law)
    names = [
        "deck_force",
        "deck_gap",
        "rope_force",
        "rope_length",
        "support1_force",
        "support1_gap",
        "mass_position",
    ]
    compiled = compile_data(data)
    found = runs.simulate(compiled.fmu, mode, names, name=mode, stop=0.8, output_step=0.004, tolerance=1e-9)
    _check_slack_is_free(found.signals.__getitem__)
    expected = simulate(mechanism_of(data)).signals["mass_position"]
    assert found.signals["mass_position"] == pytest.approx(expected, abs=1e-7)


@LAWS
def test_both_derivations_agree(law: Table | None) -> None:
    """Accelerations and energies at random states on all sides of every condition."""
    wanted = {"energy": True, "loads": "all"}
    model, rng = assemble_system(from_data(_yard(law) | {"outputs": wanted})), np.random.default_rng(11)
    staged, numbers = StagedModel(model), ReferenceModel(model.mechanism)
    for _ in range(20):
        q, qd = rng.uniform(-0.3, 0.3, 8), rng.uniform(-1.0, 1.0, 8)
        found, expected = staged(0.3, q, qd, {}), evaluate(model.mechanism, 0.3, q, qd)
        assert found.qdd == pytest.approx(expected.qdd, abs=1e-9 * np.abs(expected.qdd).max())
        potential = numbers.forces.potential(numbers.state(0.3, q, qd))
        assert found.outputs["potential_energy"] == pytest.approx(potential, rel=1e-9)


@pytest.mark.slow
@pytest.mark.skipif(not rumoca_backend.available(), reason="rumoca is not installed")
@LAWS
def test_modelica_source_agrees(law: Table | None, tmp_path: Any) -> None:
    """Every run of a machine with all laws agrees with the reference solver, that of the Modelica source too."""
    data = _yard(law)
    data["simulation"] |= {"stop": 0.15, "output_step": 0.01}
    report = gp.Model(from_data(data)).run(tmp_path, compiler="native")
    assert {"reference", "fmu-native-me", "fmu-native-cs", "modelica-rumoca"} <= {
        c.name for c in report.comparisons
    }
    assert [c.note for c in report.comparisons if not c.ok] == []


# ---- Hunt and Crossley ------------------------------------------------------------------------------------------


def _ball(law: Table, speed: float, stop: float) -> Trajectory:
    """A ball of 2 kg that meets a plane at z = 0 after 0.1 s, without gravity."""
    ball = link("ball", "prismatic", Z, position=0.1 * speed, velocity=-speed) | body(2.0)
    contact = {"name": "plane", "link": "ball", "stiffness": 5e4, "law": law}
    parts = {"contacts": [contact], "gravity": [0.0, 0.0, 0.0], "outputs": {"energy": True}}
    data = machine(ball, **parts, simulation={"start": "description"})
    return simulate(mechanism_of(data), tolerance=1e-12, stop=stop, output_step=1e-3)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
def test_conservative_impact(exponent: float) -> None:
    """Without loss: the contact time 2 √π Γ(1 + 1/p)/Γ(1/2 + 1/p) δ/v, p = n + 1, and the depth δ by energy."""
    speed, p = 0.8, exponent + 1.0
    depth = (p * 2.0 * speed**2 / 2 / 5e4) ** (1 / p)
    lasts = 2 * np.sqrt(np.pi) * gamma(1 + 1 / p) / gamma(0.5 + 1 / p) * depth / speed
    run = _ball({"exponent": exponent}, speed, 0.1 + 2 * lasts)
    times = [event.t for event in run.events if event.word in ("touches", "is clear")]
    assert times == pytest.approx([0.1, 0.1 + lasts], abs=1e-8)
    assert run.signals["ball_position_dot"][-1] == pytest.approx(speed, rel=1e-8)
    assert -run.signals["plane_gap"].min() == pytest.approx(depth, rel=0.02)
    assert -run.signals["plane_gap"].min() <= depth * (1 + 1e-9)
    energy = run.signals["kinetic_energy"] + run.signals["potential_energy"]
    assert energy == pytest.approx(speed**2, rel=1e-8)  # of 2 kg


@pytest.mark.parametrize("loss", [0.05, 0.4, 2.0])
def test_restitution(loss: float) -> None:
    """With loss c the speeds before and after fulfil f(v) = f(−v'), f(v) = c v − ln(1 + c v).

    For small c v the coefficient of restitution is 1 − (2/3) c v.
    """
    speed = 0.8

    def f(v: float) -> float:
        return loss * v - float(np.log1p(loss * v))

    after = brentq(lambda v: f(speed) - f(-v), 0.0, min(speed, (1 - 1e-12) / loss), xtol=1e-14)
    run = _ball({"exponent": 1.5, "loss": loss}, speed, 0.2)
    assert run.signals["ball_position_dot"][-1] == pytest.approx(after, rel=1e-8)
    if loss == 0.05:
        assert after / speed == pytest.approx(1 - 2 / 3 * loss * speed, abs=(loss * speed) ** 2)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (
            {"contacts": [{"name": "c", "link": "mass", "stiffness": 1.0, "damping": 1.0, "law": HERTZ}]},
            "damping or law",
        ),
        ({"contacts": [{"name": "c", "link": "mass", "stiffness": 1.0, "law": {"exponent": 0.5}}]}, "at least 1"),
        ({"base": body() | {"supports": [{"position": X, "stiffness": X, "law": HERTZ}]}}, "one_sided"),
    ],
)
def test_wrong_laws(tables: Table, message: str) -> None:
    """Both a law and a damper, an exponent below 1, and a law of a support that pulls are refused."""
    with pytest.raises(DescriptionError, match=message):
        from_data(machine(link("mass", "prismatic", Z), **tables))
