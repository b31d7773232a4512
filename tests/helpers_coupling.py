"""Systems in two or three parts with exact solutions, and runs of them by a chosen method and step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from helpers_coupling_parts import LinearPart, OdePart, SampledPart, Switch
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from gpmelica.coupling.master import Master, Record, Settings
from gpmelica.coupling.network import Network, Pin, Wire
from gpmelica.coupling.participant import PortSignal
from gpmelica.coupling.ports import positions
from gpmelica.coupling.stepping import Stepper

Array = NDArray[np.float64]
F, X, V = PortSignal("f", "N"), PortSignal("x", "m"), PortSignal("v", "m/s")


@dataclass(frozen=True)
class Run:
    """A run at its communication points."""

    time: Array
    record: Record
    network: Network
    steppers: list[Stepper]

    def __getitem__(self, port: str) -> Array:
        row = self.network.outputs.index(tuple(port.split(".", 1)))  # type: ignore[arg-type]
        return np.array(self.record.values)[:, row]


def couple(
    network: Network, method: str, stop: float, step: float | None = None, order: int = 2, **more: Any
) -> Run:
    """Run a network with one method for all groups."""
    steppers = [Stepper(network, g, method, order, positions(network)) for g in network.groups]
    record = Master(network, steppers, Settings(0.0, stop, step=step, order=order, **more)).run()
    return Run(np.array(record.times), record, network, steppers)


def error(found: Array, expected: Array) -> float:
    """Largest error, relative to the range of what is expected."""
    return float(np.max(np.abs(found - expected)) / np.ptp(expected))


def order(errors: list[float]) -> float:
    """Observed order from errors at steps that are halved."""
    return float(np.log2(errors[0] / errors[-1]) / (len(errors) - 1))


def mass(
    name: str, m: float, k: float, x: float, v: float, d: float = 0.0, f0: float = 0.0, **more: Any
) -> LinearPart:
    """A mass on a spring to the ground that takes a force."""
    a, b = [[0.0, 1.0], [-k / m, -d / m]], [[0.0], [1.0 / m]]
    return LinearPart(name, [F], [X, V], a, b, np.eye(2), x=[x, v], bias=[0.0, f0 / m], **more)


def spring(c: float, d: float = 0.0, **more: Any) -> LinearPart:
    """A spring and damper between two points, without memory."""
    inputs = [PortSignal("a.x", "m"), PortSignal("a.v", "m/s"), PortSignal("b.x", "m"), PortSignal("b.v", "m/s")]
    gain = np.array([-c, -d, c, d])
    outputs = [PortSignal("a.f", "N"), PortSignal("b.f", "N")]
    return LinearPart("law", inputs, outputs, None, None, None, [gain, -gain], memory=False, **more)


def joined(a: Any, b: Any, law: Any) -> Network:
    """Two masses and a law between them."""
    wires = [Wire((p.name, s), ("law", f"{e}.{s}")) for p, e in ((a, "a"), (b, "b")) for s in ("x", "v")]
    wires += [Wire(("law", f"{e}.f"), (p.name, "f")) for p, e in ((a, "a"), (b, "b"))]
    return Network([a, b, law], wires)


# ---- Two masses and three springs ---------------------------------------------------------------------------


def two_masses(**more: Any) -> Network:
    """The first mass takes a force; the second takes the displacement of the first."""
    first = mass("A", 1.0, 10.0, 0.0, 100.0, **more)
    matrices = [[0.0, 1.0], [-1100.0, 0.0]], [[0.0], [100.0]], [[100.0, 0.0], [1.0, 0.0]], [[-100.0], [0.0]]
    second = LinearPart("B", [X], [F, PortSignal("x2", "m")], *matrices, x=[0.0, -100.0], **more)
    return Network([first, second], [Wire(("A", "x"), ("B", "x")), Wire(("B", "f"), ("A", "f"))])


def two_masses_and_law(**more: Any) -> Network:
    """Both masses take a force; the spring between them is a law."""
    return joined(
        mass("A", 1.0, 10.0, 0.0, 100.0, **more), mass("B", 1.0, 1000.0, 0.0, -100.0, **more), spring(100.0)
    )


def two_masses_exact(t: Array) -> Array:
    """Displacement of the first mass, m."""
    w = np.sqrt(1110.0)
    return np.asarray(900.0 / 101.0 * np.sin(10.0 * t) + 1100.0 / (101.0 * w) * np.sin(w * t))


# ---- Rigid pair ---------------------------------------------------------------------------------------------


def rigid_pair(m: float = 1000.0, k1: float = 10.0, k2: float = 1e5, x0: float = 0.1, **more: Any) -> Network:
    """Masses of 1 and m kg, each on a spring, that a rigid pin holds together."""
    first, second = mass("A", 1.0, k1, x0, 0.0, **more), mass("B", m, k2, x0, 0.0, **more)
    return Network([first, second], [], [Pin(("A", "x"), ("B", "x"), ("A", "f"), ("B", "f"))])


def pinned_and_damped(**more: Any) -> tuple[Network, Callable[[Array], Array]]:
    """Masses of 2 and 1 kg that a pin holds together, and a third one on a spring and damper at the first.

    The initial slope of the damper's force depends on the pin force. The second result is the displacement of
    the pin over time, m.
    """
    k, load, c, d = 50.0, 5.0, 200.0, 8.0
    a, b = [[0.0, 1.0], [-k / 2.0, 0.0]], [[0.0, 0.0], [0.5, 0.5]]
    first = LinearPart("A", [F, PortSignal("g", "N")], [X, V], a, b, np.eye(2), x=[0.1, 0.0], **more)
    parts = [first, mass("B", 1.0, 0.0, 0.1, 0.0, f0=load, **more), mass("C", 1.5, 0.0, 0.3, 0.0, **more)]
    wires = [Wire((p, s), ("law", f"{e}.{s}")) for p, e in (("A", "a"), ("C", "b")) for s in ("x", "v")]
    wires += [Wire(("law", "a.f"), ("A", "g")), Wire(("law", "b.f"), ("C", "f"))]
    network = Network([*parts, spring(c, d)], wires, [Pin(("A", "x"), ("B", "x"), ("A", "f"), ("B", "f"))])
    stiff, damp = np.array([[k + c, -c], [-c, c]]), np.array([[d, -d], [-d, d]])
    inverse = np.diag([1.0 / 3.0, 1.0 / 1.5])
    whole = np.block([[np.zeros((2, 2)), np.eye(2)], [-inverse @ stiff, -inverse @ damp]])
    rest = np.array([load / k, load / k, 0.0, 0.0])  # static equilibrium
    begin = np.array([0.1, 0.3, 0.0, 0.0]) - rest
    return network, lambda t: np.array([rest[0] + (expm(whole * time) @ begin)[0] for time in t])


# ---- Quarter car --------------------------------------------------------------------------------------------

_CAR = {"mc": 400.0, "mw": 40.0, "kc": 15000.0, "kw": 150000.0, "dc": 1000.0}
_ROAD = 0.1  # m


def quarter_car(**more: Any) -> Network:
    """Chassis that takes the force of the suspension; wheel with the suspension that takes the chassis' motion."""
    mc, mw, kc, kw, dc = _CAR.values()
    chassis = LinearPart("chassis", [F], [X, V], [[0, 1], [0, 0]], [[0], [1 / mc]], np.eye(2), x=[0, 0], **more)
    a, b = [[0.0, 1.0], [-(kc + kw) / mw, -dc / mw]], [[0.0, 0.0], [kc / mw, dc / mw]]
    c, d = [[kc, dc], [1.0, 0.0]], [[-kc, -dc], [0.0, 0.0]]
    outputs = [F, PortSignal("x_w", "m")]
    wheel = LinearPart("wheel", [X, V], outputs, a, b, c, d, x=[0, 0], bias=[0, kw * _ROAD / mw], **more)
    wires = [Wire(("chassis", s), ("wheel", s)) for s in ("x", "v")]
    return Network([chassis, wheel], [*wires, Wire(("wheel", "f"), ("chassis", "f"))])


def quarter_car_exact(t: Array) -> Array:
    """States x_c, v_c, x_w, v_w over time, shape (4, k)."""
    mc, mw, kc, kw, dc = _CAR.values()
    a = np.array([[0, 1, 0, 0], [-kc, -dc, kc, dc], [0, 0, 0, 1], [kc, dc, -kc - kw, -dc]], dtype=float)
    a[1] /= mc
    a[3] /= mw
    rest = np.array([_ROAD, 0.0, _ROAD, 0.0])
    return np.array([rest - expm(a * time) @ rest for time in t]).T


# ---- Stiff pair ---------------------------------------------------------------------------------------------


def stiff_pair(m2: float, c: float, damping: float) -> tuple[Network, Callable[[Array], Array]]:
    """Masses of 1 and m2 kg with a stiff connection; and the displacement of the first over time, m."""
    k1, k2, m_red = 10.0, 40.0 * m2, m2 / (1.0 + m2)
    d = 2.0 * damping * np.sqrt(c * m_red)
    network = joined(mass("A", 1.0, k1, 0.1, 0.0), mass("B", m2, k2, 0.1, 0.0), spring(c, d))
    stiffness = np.array([[k1 + c, -c], [-c, k2 + c]])
    root = np.sqrt(np.array([1.0, m2]))
    values, modes = np.linalg.eigh(stiffness / np.outer(root, root))
    if damping:
        a = np.zeros((4, 4))
        a[:2, 2:] = np.eye(2)
        a[2:, :2] = -stiffness / root[:, None] ** 2
        a[2:, 2:] = -np.array([[d, -d], [-d, d]]) / root[:, None] ** 2
        w, t_ = np.linalg.eig(a)
        part = np.linalg.solve(t_, np.array([0.1, 0.1, 0, 0], dtype=complex))
        return network, lambda t: np.real((t_[0] * part) @ np.exp(np.outer(w, t)))
    share = modes.T @ (root * 0.1)
    return network, lambda t: np.asarray((modes[0] * share) @ np.cos(np.outer(np.sqrt(values), t)))


# ---- Sampled control ----------------------------------------------------------------------------------------

PERIOD, _P, _D, _J = 0.02, 40.0, 8.0, 2.0


def sampled_control() -> Network:
    """An inertia and a PD controller that is sampled, with a torque that is held between samples."""
    inertia = LinearPart("plant", ["u"], ["q", "w"], [[0, 1], [0, 0]], [[0], [1 / _J]], np.eye(2), x=[0.5, 0.0])
    law = SampledPart("control", ["q", "w"], ["u"], lambda t, u: [-_P * u[0] - _D * u[1]], PERIOD)
    wires = [Wire(("plant", s), ("control", s)) for s in "qw"]
    return Network([inertia, law], [*wires, Wire(("control", "u"), ("plant", "u"))])


def sampled_control_exact(samples: int) -> Array:
    """Angle at the sample times, shape (samples + 1,), rad."""
    state, found = np.array([0.5, 0.0]), [0.5]
    for _ in range(samples):
        u = (-_P * state[0] - _D * state[1]) / _J
        state = np.array([state[0] + PERIOD * state[1] + 0.5 * PERIOD**2 * u, state[1] + PERIOD * u])
        found.append(state[0])
    return np.array(found)


# ---- Contacts -----------------------------------------------------------------------------------------------


def rope_bounce() -> Network:
    """A mass of 100 kg that falls 0.1 m and then hangs on a rope, x downwards from where the rope is taut."""
    load = LinearPart("load", [F], [X, V], [[0, 1], [0, 0]], [[0], [0.01]], np.eye(2), x=[-0.1, 0], bias=[0, 9.81])
    taut = Switch(lambda t, x, u: u[0])
    rope = OdePart(
        "rope", [X], [F], lambda t, x, u, sides: [-1e5 * u[0] if sides[0] > 0 else 0.0], switches=[taut]
    )
    return Network([load, rope], [Wire(("load", "x"), ("rope", "x")), Wire(("rope", "f"), ("load", "f"))])


def impact() -> Network:
    """A mass of 1 kg at 1 m/s meets one at rest through a spring of 1e6 N/m."""
    first = LinearPart("A", [F], [X, V], [[0, 1], [0, 0]], [[0], [1.0]], np.eye(2), x=[-0.001, 1.0])
    second = LinearPart("B", [F], [X, V], [[0, 1], [0, 0]], [[0], [1.0]], np.eye(2), x=[0.0, 0.0])
    inputs, outputs = (
        [PortSignal("a.x", "m"), PortSignal("b.x", "m")],
        [PortSignal("a.f", "N"), PortSignal("b.f", "N")],
    )

    def law(t: float, x: Array, u: Array, sides: tuple[float, ...]) -> list[float]:
        force = 1e6 * (u[0] - u[1]) if sides[0] > 0 else 0.0
        return [-force, force]

    wall = OdePart("law", inputs, outputs, law, switches=[Switch(lambda t, x, u: u[0] - u[1])])
    wires = [Wire(("A", "x"), ("law", "a.x")), Wire(("B", "x"), ("law", "b.x"))]
    wires += [Wire(("law", "a.f"), ("A", "f")), Wire(("law", "b.f"), ("B", "f"))]
    return Network([first, second, wall], wires)


# ---- Boom of two links, cut at its pin ----------------------------------------------------------------------

_G, _L1, _L2 = 9.81, 3.0, 2.0


def boom(m1: float, m2: float) -> Network:
    """Two uniform links of 3 and 2 m in a vertical plane, the first on a fixed pivot, cut at their pin."""
    j1, j2 = m1 * _L1**2 / 3.0, m2 * _L2**2 / 12.0

    def tip(q: float, w: float) -> list[float]:
        c, s = np.cos(q), np.sin(q)
        return [_L1 * c, _L1 * s, -_L1 * s * w, _L1 * c * w]

    def first(t: float, x: Array, u: Array) -> list[float]:
        c, s = np.cos(x[0]), np.sin(x[0])
        return [x[1], (-0.5 * m1 * _G * _L1 * c + _L1 * (c * u[1] - s * u[0])) / j1]

    def second(t: float, x: Array, u: Array) -> list[float]:
        c, s = np.cos(x[2]), np.sin(x[2])
        return [*x[3:], u[0] / m2, u[1] / m2 - _G, 0.5 * _L2 * (s * u[0] - c * u[1]) / j2]

    def root(t: float, x: Array, u: Array) -> list[float]:
        c, s, a = np.cos(x[2]), np.sin(x[2]), 0.5 * _L2
        return [x[0] - a * c, x[1] - a * s, x[3] + a * s * x[5], x[4] - a * c * x[5]]

    forces = [PortSignal("pin.fx", "N"), PortSignal("pin.fy", "N")]
    motion = [
        PortSignal("pin.x", "m"),
        PortSignal("pin.y", "m"),
        PortSignal("pin.vx", "m/s"),
        PortSignal("pin.vy", "m/s"),
    ]
    q1, q2 = 0.6, -0.4
    x2 = [_L1 * np.cos(q1) + 0.5 * _L2 * np.cos(q2), _L1 * np.sin(q1) + 0.5 * _L2 * np.sin(q2), q2, 0, 0, 0]
    parts = [
        OdePart("lower", forces, motion, lambda t, x, u: tip(*x), first, [q1, 0.0]),
        OdePart("upper", forces, motion, root, second, x2),
    ]
    pins = [
        Pin(("lower", f"pin.{a}"), ("upper", f"pin.{a}"), ("lower", f"pin.f{a}"), ("upper", f"pin.f{a}"))
        for a in "xy"
    ]
    return Network(parts, [], pins)


def boom_exact(m1: float, m2: float, t: Array) -> Array:
    """Position of the pin over time by the equations of the whole boom, shape (2, k), m."""

    def rate(_: float, x: Array) -> list[float]:
        q1, q2, w1, w2 = x
        a = 0.5 * m2 * _L1 * _L2
        c, s = np.cos(q1 - q2), np.sin(q1 - q2)
        matrix = np.array([[m1 * _L1**2 / 3 + m2 * _L1**2, a * c], [a * c, m2 * _L2**2 / 3]])
        weight = _G * np.array([(0.5 * m1 + m2) * _L1 * np.cos(q1), 0.5 * m2 * _L2 * np.cos(q2)])
        force = np.array([-a * s * w2**2, a * s * w1**2]) - weight
        return [w1, w2, *np.linalg.solve(matrix, force)]

    found = solve_ivp(rate, (0.0, t[-1]), [0.6, -0.4, 0.0, 0.0], "DOP853", t, rtol=1e-12, atol=1e-12)
    return np.array([_L1 * np.cos(found.y[0]), _L1 * np.sin(found.y[0])])


# ---- Random linear systems ----------------------------------------------------------------------------------


def random_system(seed: int) -> tuple[Network, Array, Array]:
    """Two or three coupled parts of one to three states each, stable as a whole; the matrix and the start.

    Each part gives its states as outputs and takes a state of every other part.
    """
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 4, size=draw.integers(2, 4))
    n = int(sizes.sum())
    whole = draw.normal(size=(n, n)) * 2.0
    stops = np.cumsum(sizes)
    spans = [slice(int(stop - size), int(stop)) for stop, size in zip(stops, sizes, strict=True)]
    for k, rows in enumerate(spans):  # of another part, only the first state acts
        for j, columns in enumerate(spans):
            if j != k:
                whole[rows, columns.start + 1 : columns.stop] = 0.0
    whole -= (max(np.linalg.eigvals(whole).real.max(), 0.0) + 0.3) * np.eye(n)
    start = draw.normal(size=n)
    parts, wires = [], []
    for k, rows in enumerate(spans):
        others = [j for j in range(len(spans)) if j != k]
        drive = whole[rows][:, [spans[j].start for j in others]]
        inputs, outputs = [f"u{j}" for j in others], [f"y{i}" for i in range(sizes[k])]
        parts.append(
            LinearPart(f"P{k}", inputs, outputs, whole[rows, rows], drive, np.eye(sizes[k]), x=start[rows])
        )
        wires += [Wire((f"P{j}", "y0"), (f"P{k}", f"u{j}")) for j in others]
    return Network(parts, wires), whole, start


def random_exact(matrix: Array, start: Array, t: Array) -> Array:
    """States over time, shape (n, k)."""
    return np.array([expm(matrix * time) @ start for time in t]).T
