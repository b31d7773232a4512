"""Lines, contacts, stops and Coulomb friction against MuJoCo: trajectories, and the order and times of events.

    pip install -e '.[benchmark]'
    python benchmarks/mujoco_forces.py

A box falls until the rope that it hangs on is taut, and its corners touch a sloping deck; the rope's other end is
on a boom that a cylinder luffs against its stop. MuJoCo has the bodies, joints and armature; the forces are
written here a second time, on its sites, and act within its Runge–Kutta method, whose steps end at events. No
contact, limit or tendon of its own takes part: those are other laws. Before that, accelerations at random states.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from gpmelica import analysis
from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.trajectory import output_grid
from gpmelica.description.load import from_data
from gpmelica.runs.fmpy_runs import simulate as runs
from gpmelica.tasks.build import build_native

Array = NDArray[np.float64]
Signals = Mapping[str, Array]
Switch = tuple[float, str, bool]  # time, s, what, and whether its force begins
STOP, OUTPUT_STEP, STEP = 1.2, 0.005, 1e-4  # s; the last one is MuJoCo's
CORNERS = {"corner1": [0.25, 0.2, -0.15], "corner2": [-0.25, 0.2, -0.15], "corner3": [0.0, -0.3, -0.15]}
_POINTS = (*CORNERS, "tip")
NAMES = [f"{name}_{x}" for name in _POINTS for x in "xyz"] + ["mast_angle", "boom_angle"]
ENDS = {
    "foot": ("mast", [0.3, 0.0, 0.2]),
    "rod": ("boom", [0.8, 0.05, -0.1]),
    "tip": ("boom", [2.5, 0.0, 0.0]),
    "eye": ("box", [0.0, 0.0, 0.2]),
}
MAST = {"mass": 60.0, "com": [0.0, 0.0, 0.4], "inertia": [5.0, 5.0, 3.0]}
BOOM = {"mass": 40.0, "com": [1.2, 0.0, 0.0], "inertia": [0.5, 22.0, 22.0]}
BOX = {"mass": 50.0, "com": [0.02, 0.0, 0.0], "inertia": [3.0, 4.0, 5.0]}
ARMATURE, COULOMB, V_S = 8.0, 15.0, 0.05
UPPER, STOP_STIFFNESS, STOP_DAMPING = 0.34, 4e4, 400.0
NORMAL, DECK = np.array([0.1, 0.0, 1.0]) / np.hypot(0.1, 1.0), np.array([0.0, 0.0, 0.52])
DECK_STIFFNESS, DECK_DAMPING, MU, SLIDING = 5e4, 600.0, 0.4, 0.05
CYLINDER, ROPE = (3e5, 4e3), (2e4, 150.0)  # N/m, N s/m
TURN, PLACE, ATTITUDE, SPIN = 0.2, [2.4, 0.1, 0.55], [0.3, 0.1], 0.8  # rad; m; ψ, θ; rad/s


def cylinder_rest(t: float) -> float:
    """M."""
    return 0.948 + 0.1 * np.sin(2.0 * t)


def description() -> dict[str, Any]:
    """Return Gpmelica's description of the machine."""

    def end(name: str) -> dict[str, Any]:
        link, point = ENDS[name]
        return {"link": link, "point": point}

    def spring(constants: tuple[float, float]) -> dict[str, Any]:
        return dict(zip(("stiffness", "damping"), constants, strict=True))

    slewing = {"type": "revolute", "axis": [0.0, 0.0, 1.0], "armature": ARMATURE, "velocity": TURN}
    slewing["friction"] = {"model": "coulomb", "effort": COULOMB, "v_s": V_S}
    limits = {"lower": -1.0, "upper": UPPER, "stiffness": STOP_STIFFNESS, "damping": STOP_DAMPING}
    luffing = {"type": "revolute", "axis": [0.0, -1.0, 0.0], "position": 0.25, "limits": limits}
    free = {"type": "free", "position": [*PLACE, *ATTITUDE, 0.0], "velocity": [0.0, 0.0, 0.0, SPIN, 0.0, 0.0]}
    deck = {"plane": {"point": DECK.tolist(), "normal": NORMAL.tolist()}, "stiffness": DECK_STIFFNESS}
    deck |= {"damping": DECK_DAMPING, "friction": {"mu": MU, "v_s": SLIDING}}
    rest = "0.948 + 0.1*sin(2*t)"
    return {
        "schema": 1,
        "name": "Yard",
        "links": [
            {"name": "mast", "parent": "ground", "joint": slewing} | MAST,
            {"name": "boom", "parent": "mast", "frame": {"xyz": [0.0, 0.0, 0.9]}, "joint": luffing} | BOOM,
            {"name": "box", "parent": "ground", "joint": free} | BOX,
        ],
        "lines": [
            {"name": "cylinder", "a": end("foot"), "b": end("rod"), "rest": rest} | spring(CYLINDER),
            {"name": "rope", "a": end("tip"), "b": end("eye"), "rest": 1.0, "tension_only": True} | spring(ROPE),
        ],
        "contacts": [{"name": name, "link": "box", "point": point} | deck for name, point in CORNERS.items()],
        "points": {name: {"link": "box", "position": point} for name, point in CORNERS.items()}
        | {"tip": {"link": "boom", "position": ENDS["tip"][1]}},
        "simulation": {"start": "description", "stop": STOP, "output_step": OUTPUT_STEP},
    }


def bodies() -> str:
    """Return MuJoCo's XML of the machine's bodies and joints."""

    def numbers(values: Any) -> str:
        return " ".join(f"{x:.17g}" for x in values)

    def inertial(body: dict[str, Any]) -> str:
        pos, inertia = numbers(body["com"]), numbers(body["inertia"])
        return f'<inertial pos="{pos}" mass="{body["mass"]}" diaginertia="{inertia}"/>'

    def sites(body: str) -> str:
        places = {name: point for name, (link, point) in ENDS.items() if link == body}
        places |= CORNERS if body == "box" else {}
        return "".join(f'<site name="{name}" pos="{numbers(point)}"/>' for name, point in places.items())

    return f"""<mujoco><option integrator="RK4" timestep="{STEP}" gravity="0 0 -9.81"/>
<worldbody>
  <body name="mast"><joint type="hinge" axis="0 0 1" armature="{ARMATURE}"/>{inertial(MAST)}{sites("mast")}
    <body name="boom" pos="0 0 0.9"><joint type="hinge" axis="0 -1 0"/>{inertial(BOOM)}{sites("boom")}</body>
  </body>
  <body name="box"><freejoint/>{inertial(BOX)}{sites("box")}</body>
</worldbody></mujoco>"""


class MujocoYard:
    """MuJoCo's model with this file's forces; `margins` of what acts one way: positive while it does."""

    def __init__(self) -> None:
        self.model = mujoco.MjModel.from_xml_string(bodies())
        self.data = mujoco.MjData(self.model)
        self.sites = {name: self.model.site(name).id for name in (*ENDS, *CORNERS)}
        self.margins: dict[str, float] = {}
        self.place(np.array([0.0, 0.25, *PLACE, *ATTITUDE, 0.0]), np.array([TURN, 0, 0, 0, 0, SPIN, 0, 0]))

    def place(self, q: Array, qd: Array) -> None:
        """Gpmelica's coordinates and rates, shape (8,): the box's attitude by R = Rz(ψ)·Ry(θ)·Rx(φ)."""
        (psi, theta, phi), (psi_dot, theta_dot, phi_dot) = q[5:], qd[5:]
        x, y, z, w = Rotation.from_euler("ZYX", [psi, theta, phi]).as_quat()
        turning = [
            phi_dot - psi_dot * np.sin(theta),
            theta_dot * np.cos(phi) + psi_dot * np.cos(theta) * np.sin(phi),
            -theta_dot * np.sin(phi) + psi_dot * np.cos(theta) * np.cos(phi),
        ]
        self.data.qpos[:] = [*q[:5], w, x, y, z]
        self.data.qvel[:] = [*qd[:5], *turning]

    def moving(self, name: str) -> tuple[Array, Array, Array]:
        """Position and velocity of a site, shape (3,), and its Jacobian, shape (3, nv)."""
        jacobian = np.zeros((3, self.model.nv))
        mujoco.mj_jacSite(self.model, self.data, jacobian, None, self.sites[name])
        return self.data.site_xpos[self.sites[name]], jacobian @ self.data.qvel, jacobian

    def act(self, model: Any, data: Any) -> None:
        """MuJoCo's callback for passive forces."""
        del model
        data.qfrc_passive[:] += self.pull("cylinder", "foot", "rod", CYLINDER, cylinder_rest(data.time), False)
        data.qfrc_passive[:] += self.pull("rope", "tip", "eye", ROPE, 1.0, True)
        for name in CORNERS:
            data.qfrc_passive[:] += self.press(name)
        data.qfrc_passive[0] -= COULOMB * np.tanh(data.qvel[0] / V_S)
        depth = data.qpos[1] - UPPER
        held = STOP_STIFFNESS * depth + STOP_DAMPING * data.qvel[1]
        self.margins["boom.angle"] = min(depth, held)
        data.qfrc_passive[1] -= held if min(depth, held) > 0.0 else 0.0

    def pull(self, name: str, a: str, b: str, law: tuple[float, float], rest: float, slackens: bool) -> Array:
        """Generalised force of a line, shape (nv,)."""
        (r_a, v_a, J_a), (r_b, v_b, J_b) = self.moving(a), self.moving(b)
        length = float(np.linalg.norm(r_b - r_a))
        e = (r_b - r_a) / length
        rest_rate = 0.2 * np.cos(2.0 * self.data.time) if name == "cylinder" else 0.0
        tension = law[0] * (length - rest) + law[1] * (float(e @ (v_b - v_a)) - rest_rate)
        if slackens:
            self.margins[name] = tension
            tension = max(tension, 0.0)
        return np.asarray(-tension * (e @ (J_b - J_a)))

    def press(self, name: str) -> Array:
        """Generalised force of a corner on the deck, shape (nv,)."""
        r, v, J = self.moving(name)
        depth, closing = -float(NORMAL @ (r - DECK)), -float(NORMAL @ v)
        held = DECK_STIFFNESS * depth + DECK_DAMPING * closing
        self.margins[name] = min(depth, held)
        if min(depth, held) <= 0.0:
            return np.zeros(self.model.nv)
        sliding = v + closing * NORMAL
        speed = float(np.linalg.norm(sliding))
        resisting = MU * held * np.tanh(speed / SLIDING) / speed * sliding if speed else np.zeros(3)
        return np.asarray((held * NORMAL - resisting) @ J)

    def run(self) -> tuple[dict[str, Array], list[Switch]]:
        """Signals at the output times, and when which force begins (True) and ends."""
        rows, events = list[list[float]](), list[Switch]()
        mujoco.set_mjcb_passive(self.act)
        try:
            mujoco.mj_forward(self.model, self.data)
            for t in output_grid(STOP, OUTPUT_STEP).tolist():
                while self.data.time < t - 1e-12:
                    events += self.step(t)
                rows.append([*(x for site in _POINTS for x in self.data.site(site).xpos), *self.data.qpos[:2]])
        finally:
            mujoco.set_mjcb_passive(None)
        return dict(zip(NAMES, np.array(rows).T, strict=True)), events

    def step(self, most: float) -> list[Switch]:
        """One step, at longest to the time `most`, s, or to the first event, which it returns."""
        before, state, h = dict(self.margins), self.state(), min(STEP, most - self.data.time)
        self.advance(state, h)
        crossed = [name for name in before if (before[name] > 0.0) != (self.margins[name] > 0.0)]
        if not crossed:
            return []

        def margin(h: float, name: str) -> float:
            self.advance(state, h)
            return self.margins[name]

        first, name = min((float(brentq(margin, 0.0, h, args=(name,), xtol=1e-14)), name) for name in crossed)
        self.advance(state, first + 1e-12)
        return [(self.data.time, name, not before[name] > 0.0)]

    def state(self) -> tuple[float, Array, Array]:
        """Time, s, and positions and velocities as MuJoCo has them."""
        return self.data.time, self.data.qpos.copy(), self.data.qvel.copy()

    def advance(self, state: tuple[float, Array, Array], h: float) -> None:
        """A step of h, s, from a state."""
        self.data.time, self.data.qpos[:], self.data.qvel[:] = state
        if h > 0.0:
            self.model.opt.timestep = h
            mujoco.mj_step(self.model, self.data)
        mujoco.mj_forward(self.model, self.data)


def switched(events: tuple[Any, ...]) -> list[Switch]:
    """When which force begins and ends, from the conditions of the reference's run: one of depth, one of force."""
    met: dict[str, set[str]] = {}
    found = list[Switch]()
    begins = {"touches", "is met", "would press", "is taut"}
    for event in events:
        name = event.label.split()[1]
        kind = "force" if event.word.startswith("would") else "depth"
        conditions, full = met.setdefault(name, set()), {"depth"} if name == "rope" else {"depth", "force"}
        was = conditions >= full
        (conditions.add if event.word in begins else conditions.discard)(kind)
        if was != (conditions >= full):
            found.append((event.t, name, not was))
    return found


def differences(found: Signals, wanted: Signals, until: int) -> float:
    """The largest of all signals over the first so many rows, relative to the range over the run."""
    return max(float(np.abs(found[x] - wanted[x])[:until].max() / np.ptp(wanted[x])) for x in NAMES)


def largest_error(model: System, count: int) -> float:
    """Largest relative error of the reference's accelerations of mast, boom and box at random states."""
    rng, yard, errors = np.random.default_rng(4), MujocoYard(), list[float]()
    mujoco.set_mjcb_passive(yard.act)
    try:
        for _ in range(count):
            q = np.array([0.0, 0.25, *PLACE, *ATTITUDE, 0.0]) + rng.uniform(-0.3, 0.3, 8)
            qd, yard.data.time = rng.uniform(-1.0, 1.0, 8), float(rng.uniform(0.0, STOP))
            yard.place(q, qd)
            mujoco.mj_forward(yard.model, yard.data)
            found = analysis.evaluate(model.problem, yard.data.time, q, qd).qdd[:5]
            wanted = yard.data.qacc[:5]
            errors.append(float(np.abs(found - wanted).max() / np.abs(wanted).max()))
    finally:
        mujoco.set_mjcb_passive(None)
    return max(errors)


def fmu_runs(model: System) -> dict[str, Signals]:
    """Runs of the native FMU by model exchange and co-simulation."""
    options: dict[str, Any] = {"stop": STOP, "output_step": OUTPUT_STEP, "tolerance": 1e-10}
    with TemporaryDirectory() as folder:
        fmu = build_native(model, Path(folder)).path
        return {f"FMU, {m}": runs.simulate(fmu, m, NAMES, name=m, **options).signals for m in ("me", "cs")}


def main() -> None:
    """Print both tables."""
    model = assemble_system(from_data(description()))
    own = analysis.simulate(model.problem, analysis.RunSettings(tolerance=1e-10))
    theirs, events = MujocoYard().run()
    mine = switched(own.events)
    first = int(np.searchsorted(own.time, mine[0][0]))
    console = Console(width=100)
    console.print(
        f"largest relative difference of accelerations at 200 random states: {largest_error(model, 200):.1e}"
    )
    table = Table(
        "run", "before the first event", "over the run", title="largest difference from MuJoCo, by range"
    )
    for name, signals in ({"reference": own.signals} | fmu_runs(model)).items():
        table.add_row(name, *(f"{differences(signals, theirs, rows):.1e}" for rows in (first, len(own.time))))
    console.print(table)
    order = "the same" if [e[1:] for e in mine] == [e[1:] for e in events] else "NOT THE SAME"
    table = Table("force", "", "time, s", "MuJoCo's", title=f"events; their order is {order}")
    for (t, name, on), (t_theirs, name_theirs, _) in zip(mine, events, strict=False):
        table.add_row(name, "begins" if on else "ends", f"{t:.9f}", f"{t_theirs:.9f} {name_theirs}")
    console.print(table)
    sys.exit(order != "the same")


if __name__ == "__main__":
    main()
