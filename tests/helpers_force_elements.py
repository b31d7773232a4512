"""Machines that have one-sided supports, stops, friction, lines and contacts; or every force element there is."""

from __future__ import annotations

from typing import Any

from helpers_parts import Y, Z, beam, body, link, machine

_CORNERS = ((1.2, 1.2), (-1.2, 1.2), (-1.2, -1.2), (1.2, -1.2))
_TUBE = {"area": 0.004, "density": 7800.0, "E": 2.1e11, "G": 8e10, "Iy": 4e-6, "Iz": 4e-6, "J": 6e-6}
_SUPPORT = {"stiffness": [1e6, 8e5, 1e6], "damping": [1e4, 8e3, 1e4], "one_sided": True}


def hoist(**changes: Any) -> dict[str, Any]:
    """A lorry on four outriggers with a slewing boom, luffed by a cylinder, and a load on a rope above a deck."""
    outriggers = [{"position": [x, y, 0.0]} | _SUPPORT for x, y in _CORNERS]
    outriggers[0]["name"] = "front"
    base = {"mass": 800.0, "com": [0.0, 0.0, 0.3], "inertia": [300.0, 300.0, 400.0], "supports": outriggers}
    slewing = {"armature": 30.0, "friction": {"model": "coulomb", "effort": 40.0, "v_s": 0.05}}
    luffing = {"position": 0.5, "limits": {"lower": -0.2, "upper": 0.6, "stiffness": 1e5, "damping": 1e3}}
    boom = {"length": 3.0, "damping_time": 0.002, "elements": 2} | _TUBE
    links = [
        link("column", "revolute", Z, "base", xyz=[0.0, 0.0, 0.5], **slewing)
        | body(100.0, [0.0, 0.0, 0.5], [10.0, 10.0, 10.0]),
        beam("boom", boom, "revolute", [0.0, -1.0, 0.0], "column", xyz=[0.0, 0.0, 1.0], **luffing),
        link("load", "free", xyz=[2.6, 0.0, 0.9]) | body(250.0, inertia=[5.0, 6.0, 7.0]),
    ]
    lift = _line("lift", ("column", [0.2, 0.0, 0.2]), ("boom", [1.0, 0.1, -0.1]))
    lift["force"] = "-30000 - 2000*rate + (500*length if length > 1.0 else 0)"
    rope = _line("rope", ("boom", [3.0, 0.0, 0.0]), ("load", [0.0, 0.0, 0.2]))
    rope |= {"stiffness": 5e4, "damping": 500.0, "tension_only": True}
    rope["rest"] = "1.9 - 0.5*quintic(t, 0.3, 1.2, 0, 1)"
    tug = _line("tug", ("ground", [6.0, 1.0, 0.5]), ("load", [0.0, 0.0, 0.0])) | {"input": True}
    plane = {"point": [0.0, 0.0, 0.55], "normal": [0.0, 0.05, 1.0]}
    contact = {"name": "deck", "link": "load", "point": [0.1, 0.0, -0.3], "plane": plane}
    contact |= {"stiffness": 2e5, "damping": 2e3, "friction": {"mu": 0.3, "v_s": 0.05}}
    simulation = {"start": "description", "stop": 0.6, "output_step": 0.01}
    elements = {"lines": [lift, rope, tug], "contacts": [contact]}
    return machine(*links, name="Hoist", base=base, **elements, simulation=simulation) | changes


def _line(name: str, a: tuple[str, list[float]], b: tuple[str, list[float]]) -> dict[str, Any]:
    """Between points of two links."""
    return {"name": name} | {side: {"link": link, "point": point} for side, (link, point) in (("a", a), ("b", b))}


def measuring_hoist(**changes: Any) -> dict[str, Any]:
    """Hoist whose lengths, rates, gaps and forces of elements occur in forces and in programmed motions."""
    data = hoist(**changes)
    data["lines"][0]["force"] = (
        "-3e4 - 2000*rate + 500*length*rope_length - 0.2*rope_force + 0.1*tug_force*tug_rate"
    )
    brake = "-0.01*rope_force*tanh(column.angle_dot) + (5e-3*deck_force if deck_gap < 0.1 else 2*rope_rate)"
    side = ["0.02*front_force", "1e3*front_gap*rope_length", "support3_force"]
    rows = {"luff": ("lift_length - start(lift_length) - 0.1*t", 0), "level": ("support2_gap - deck_gap^2*t", 0)}
    rows |= {"drift": ("tug_rate + 0.3*load.x_dot + sin(lift_length) - 0.1", 1)}
    programmed = [{"name": name, "expression": text, "order": order} for name, (text, order) in rows.items()]
    return (
        {"programmed": programmed}
        | data
        | {
            "forces": [
                {"name": "brake", "joint": "column", "effort": brake},
                {"name": "side", "link": "load", "force": side},
            ]
        }
    )


def everything() -> dict[str, Any]:
    """The hoist, with a motor whose bristles bend, a spring in a joint, and a replacement joint."""
    data = hoist(name="Everything")
    data["lines"][1]["rest"] = "1.9 - 0.5*quintic(t, 0, 0.9, 0, 1)"
    bristles = {"model": "lugre", "sigma0": 60.0, "sigma1": 1.0, "sigma2": 0.05, "mu_s": 0.3, "mu_k": 0.2}
    bristles |= {"v_s": 0.05, "diameter": 0.1, "normal_force": 200.0}
    motor = {"xyz": [-0.8, 0.3, 0.4], "friction": bristles, "velocity": 0.6, "armature": 0.2}
    fly = {"xyz": [0.3, 0.0, 0.0], "stiffness": 80.0, "damping": 1.0, "position": 0.2}
    rod = body(8.0, [0.3, 0.0, 0.0], [0.1, 0.3, 0.3])
    data["links"] += [
        link("rotor", "revolute", Z, "base", **motor) | rod,
        link("flap", "revolute", Y, "rotor", **fly) | rod,
    ]
    mount = {"name": "mount", "type": "spherical", "model": "spring_damper", "stiffness": [2e3] * 3 + [0.0] * 3}
    mount |= {
        "damping": [20.0] * 3 + [0.0] * 3,
        "a": {"link": "base", "xyz": [-0.5, 0.8, 0.5]},
        "b": {"link": "flap"},
    }
    data["closures"] = [mount]
    wind = ["30*sin(4*t)", "40 if load.z > 0.8 else 0", "5*t"]
    data["forces"] = [
        {"name": "drive", "joint": "rotor", "effort": "12*cos(3*t) - 2*abs(rotor.angle_dot)"},
        {"name": "wind", "link": "load", "point": [0.0, 0.2, 0.1], "force": wind},
    ]
    return data
