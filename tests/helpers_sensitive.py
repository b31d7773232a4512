"""Right mechanisms that amplify small differences, and slow, stiff and small ones that must agree all the same."""

from __future__ import annotations

from typing import Any

from helpers_parts import X, Y, Z, body, link, machine

from gpmelica.analysis.system import System, assemble_system
from gpmelica.description.load import from_data

Table = dict[str, Any]
WEIGHTLESS = [0.0, 0.0, 0.0]


def sensitive_model(description: Table) -> System:
    """Prepared description."""
    return assemble_system(from_data(description))


def bouncing_ball(stop: float = 4.0, stiffness: float = 1e9) -> Table:
    """Ball of 1 kg that falls by 0.5 m onto a hard floor without losses, again and again."""
    floor = {"point": [0.0, 0.0, 0.0], "normal": Z}
    contact = {
        "name": "ground_plane",
        "link": "ball",
        "point": [0.0, 0.0, 0.0],
        "plane": floor,
        "stiffness": stiffness,
    }
    return _machine(link("ball", "prismatic", Z, position=0.5), stop=stop, contacts=[contact])


def pendulum_between_stops(stop: float = 5.0) -> Table:
    """Pendulum that hits stiff end stops on both sides."""
    limits = {"lower": -0.6, "upper": 0.8, "stiffness": 1e7, "damping": 0.0}
    return _machine(_arm("arm", "ground", 0.5, 4.0, limits=limits), stop=stop)


def backlash(stop: float = 5.0) -> Table:
    """Body with play in a driven carriage: contacts on both sides, forced by a sine."""
    sides = [
        {
            "name": name,
            "link": "body",
            "point": [0.0, 0.0, 0.0],
            "plane": {"point": [-0.01 * sign, 0.0, 0.0], "normal": [float(sign), 0.0, 0.0]},
            "stiffness": 1e6,
            "damping": 20.0,
        }
        for name, sign in (("left", 1), ("right", -1))
    ]
    force = {"name": "shaking", "joint": "body", "effort": "8*sin(9*t)"}
    return _machine(
        link("body", "prismatic", X, velocity=0.3), stop=stop, contacts=sides, forces=[force], gravity=WEIGHTLESS
    )


def double_pendulum(stop: float = 10.0, **changes: Any) -> Table:
    """Double pendulum from far above the horizontal: its motion is chaotic."""
    upper, lower = _arm("upper", "ground", -1.4, 0.0), _arm("lower", "upper", 0.3, 0.0, xyz=[1.0, 0.0, 0.0])
    return _machine(upper, lower, stop=stop, **changes)


def falling_robot(stop: float = 4.0) -> Table:
    """Undamped arm with six joints that falls under gravity."""
    axes = [Z, Y, Y, X, Y, X]
    lengths = [0.3, 0.5, 0.4, 0.1, 0.2, 0.1]
    links, parent, place = [], "ground", 0.0
    for k, (axis, length) in enumerate(zip(axes, lengths, strict=True)):
        arm = link(f"l{k}", "revolute", axis, parent, xyz=[place, 0.0, 0.0], position=0.3 * (-1.0) ** k)
        links.append(
            arm
            | body(5.0 - 0.7 * k, [0.5 * length, 0.02, 0.01], [0.02, 0.015 + 0.06 * length, 0.015 + 0.06 * length])
        )
        parent, place = f"l{k}", length
    return _machine(*links, stop=stop)


def slow_turntable(rate: float = 1e-8) -> Table:
    """Arm that turns about a vertical axis at a very small rate, with a spring to a second one."""
    first = link("first", "revolute", Z, velocity=rate) | body(2.0, [0.3, 0.0, 0.0], [0.1, 0.2, 0.2])
    second = link("second", "revolute", Z, "first", xyz=[0.8, 0.0, 0.0], velocity=rate, stiffness=3.0)
    return _machine(first, second | body(1.0, [0.2, 0.0, 0.0], [0.05, 0.1, 0.1]), stop=10.0)


def stiff_oscillator(stiffness: float = 1e12, stop: float = 1.0) -> Table:
    """Mass of 1 t on a spring of 1e12 N/m, pushed by 1 kN."""
    mass = link("mass", "prismatic", Z, stiffness=stiffness, damping=1e6) | body(1000.0)
    push = {"name": "push", "joint": "mass", "effort": "1000*sin(20*t)"}
    return _machine(mass, stop=stop, forces=[push])


def small_fast_vibration(amplitude: float = 1e-7, stop: float = 1.0) -> Table:
    """Arm that swings by metres per second while a light part on it vibrates by 1e-7 m at 800 Hz."""
    light = link("light", "prismatic", X, "arm", xyz=[0.5, 0.0, 0.0], position=amplitude, stiffness=2.5e5)
    return _machine(_arm("arm", "ground", 0.9, 0.0), light | body(0.01, inertia=(1e-6, 1e-6, 1e-6)), stop=stop)


def _arm(name: str, parent: str, position: float, velocity: float, **keys: Any) -> Table:
    arm = link(name, "revolute", Y, parent, position=position, velocity=velocity, **keys)
    return arm | body(1.0, [0.5, 0.0, 0.0], [0.01, 1.0 / 12.0, 1.0 / 12.0])


def _machine(*links: Table, stop: float, **tables: Any) -> Table:
    times = {"start": "description", "stop": stop, "output_step": 0.01}
    return machine(*links, **{"simulation": times} | tables)
