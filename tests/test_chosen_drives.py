"""`constraints.actuated`: only the named joints have drives, and their efforts realise the programmed motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_examples import FORMULATIONS
from helpers_redundant import started
from helpers_reference import manipulator, mechanism_of

from gpmelica import reference
from gpmelica.errors import SolveError


def linkage(spatial: bool = False, **constraints: Any) -> dict[str, Any]:
    """A four-bar linkage in the x–z plane, whose rocker's angle is programmed."""
    data = manipulator(gravity=[0.0, 0.0, -9.81])
    names, positions = ("crank", "coupler"), (1.2, -0.7)
    for link, name, position in zip(data["links"], names, positions, strict=True):
        link["name"], link["joint"] = name, link["joint"] | {"position": position}
    data["links"][1]["parent"] = "crank"
    rocker = {"name": "rocker", "parent": "ground", "frame": {"xyz": [1.0, 0.0, 0.0]}, "mass": 1.5}
    rocker |= {"com": [0.3, 0.05, 0.1], "inertia": [0.02, 0.1, 0.1]}
    data["links"].append(rocker | {"joint": data["links"][0]["joint"] | {"position": 1.6}})
    turned = {"rpy": [np.pi / 2, 0.0, 0.0]}
    ends = {"a": {"link": "coupler", "xyz": [0.8, 0.0, 0.0]}, "b": {"link": "rocker", "xyz": [0.9, 0.0, 0.0]}}
    kind = "revolute" if spatial else "point_on_line"
    data["closures"] = [{"name": "pin", "type": kind, **{k: v | turned for k, v in ends.items()}}]
    text = "rocker.angle - start(rocker.angle) - 0.3*quintic(t, 0, 1, 0, 1)"
    data["programmed"] = [{"name": "swing", "expression": text}]
    data["points"] = {}
    data["simulation"] = {"start": "description", "stop": 1.0, "output_step": 0.02, "tolerance": 1e-10}
    return data | {"constraints": constraints}


@pytest.mark.parametrize("spatial", [False, True])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_efforts_by_virtual_power(formulation: str, spatial: bool) -> None:
    """The crank's drive does what is left of M q̈ + h − Q along the linkage's own motion; other joints are idle."""
    mechanism, start = started(linkage(spatial, formulation=formulation, actuated=["crank"]))
    model = reference.Model(mechanism, start=start)
    for t in (0.0, 0.3, 0.6):
        q, qd = start[0], np.zeros(mechanism.n)
        found = reference.evaluate(mechanism, t, q, qd, start=start)
        loops = model.constraints(model.state(t, q, qd)).C[model.constraints.closure_rows]
        virtual = np.linalg.svd(loops)[2][-1]  # the loop's motion at one degree of freedom
        assert loops @ virtual == pytest.approx(np.zeros(len(loops)), abs=1e-12)
        torque = found.effort @ virtual / virtual[0]
        assert abs(torque) > 0.1
        assert found.drive == pytest.approx([torque, 0.0, 0.0], abs=1e-9)


def test_loads_belong_to_the_drives() -> None:
    """An idle joint transmits no moment about its axis, and the closure's force is what makes it so."""
    mechanism, start = started(linkage(actuated=["crank"]))
    by_all, _ = started(linkage())
    for machine, idle in ((mechanism, True), (by_all, False)):
        loads = reference.joint_loads(machine, 0.2, *start, start=start)
        about = {name: loads[name][4] for name in loads}  # axes are along −y
        assert (abs(about["rocker"]) < 1e-9) == idle
        assert abs(about["coupler"]) < 1e-9
        assert (abs(about["crank"]) > 0.1) == idle


def test_power_of_the_drive() -> None:
    """Over a run the chosen drive does all the work: d(energy)/dt = τ q̇."""
    mechanism, start = started(linkage(actuated=["crank"]))
    run = reference.simulate(mechanism, start=start)
    model = reference.Model(mechanism, start=start)
    symbols = [c.symbol for c in mechanism.coordinates]
    q, qd = (np.array([run.signals[f"{s}{end}"] for s in symbols]).T for end in ("", "_dot"))
    total = np.array([reference.energy(model, t, a, b).total for t, a, b in zip(run.time, q, qd, strict=True)])
    power = run.signals["crank_angle_effort"] * run.signals["crank_angle_dot"]
    work = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(run.time))])
    assert np.ptp(total) > 0.5
    assert total - total[0] == pytest.approx(work, abs=2e-3 * float(np.ptp(total)))
    assert [name for name in run.signals if name.endswith("_effort")] == ["crank_angle_effort"]


@pytest.mark.parametrize(
    ("actuated", "text"),
    [
        (["crank", "rocker"], "drives of crank.angle, rocker.angle are not unique: closures"),
        ([], "the drives of no joint cannot realise swing"),
    ],
)
def test_drives_that_do_not_do(actuated: list[str], text: str) -> None:
    """Too many drives have no unique efforts, too few cannot do the task; the key is named."""
    mechanism, start = started(linkage(actuated=actuated))
    with pytest.raises(SolveError, match=text):
        reference.evaluate(mechanism, 0.0, *start, start=start)
    (problem,) = reference.unreachable(mechanism, start[0])
    assert problem.where == "constraints.actuated"


def test_serial_arm_needs_the_right_joint() -> None:
    """A drive in the wrong place is told which coordinate lacks what it needs."""
    rows = [{"name": "level", "expression": "lower.angle - start(lower.angle)"}]
    data = manipulator(programmed=rows, constraints={"actuated": ["upper"]})
    data["simulation"] = {"start": "description"}
    mechanism = mechanism_of(data)
    start = reference.start_state(mechanism)
    with pytest.raises(
        SolveError, match=r"drives of upper.angle cannot realise level: they leave lower.angle without"
    ):
        reference.evaluate(mechanism, 0.0, *start, start=start)
