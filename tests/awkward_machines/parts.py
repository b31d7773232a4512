"""Building blocks of awkward mechanisms, and the list of these mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import helpers_parts

Table = helpers_parts.Table
Verdict = Literal["ok", "refused", "stops", "not consistent", "does not hold"]
Vector = tuple[float, float, float]

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
WEIGHTLESS = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Awkward:
    """A machine, what is to come of it, and words of the answer.

    verdict  ok: all three of consistent, agrees and holds
             refused: by `check`, exit status 2
             stops: the run ends early, exit status 1
             not consistent, does not hold: the run ends with that line of the verdict, exit status 1
    says     pieces of the message, or of what is said beside a good verdict
    dof      degrees of freedom, where they are worth a look
    """

    name: str
    make: Callable[[], Table]
    verdict: Verdict
    says: tuple[str, ...]
    dof: int | None


MACHINES: dict[str, Awkward] = {}


def awkward(
    verdict: Verdict, *says: str, dof: int | None = None
) -> Callable[[Callable[[], Table]], Callable[[], Table]]:
    """Put a machine on the list."""

    def listed(make: Callable[[], Table]) -> Callable[[], Table]:
        MACHINES[make.__name__] = Awkward(make.__name__, make, verdict, says, dof)
        return make

    return listed


def machine(*links: Table, **tables: Any) -> Table:
    """A description of links and further tables; it starts as described, and runs for half a second."""
    simulation = {"start": "description", "stop": 0.5} | tables.pop("simulation", {})
    given = {"name": "Awkward", "gravity": [0.0, 0.0, -9.81]} | tables
    return helpers_parts.machine(*links, **given, simulation=simulation)


def link(name: str, joint: str, axis: Vector | None = None, /, parent: str = "ground", **keys: Any) -> Table:
    """A link of 1 kg, its centre of mass half a metre away on x; for the keys see `helpers_parts`."""
    mass, com = keys.pop("mass", 1.0), keys.pop("com", (0.5, 0.0, 0.0))
    inertia = keys.pop("inertia", tuple(mass * x for x in (0.01, 0.09, 0.09)))
    keys |= {key: list(keys[key]) for key in ("xyz", "rpy") if key in keys}
    return helpers_parts.link(name, joint, axis, parent, **keys) | helpers_parts.body(mass, com, inertia)


def arm(first: float = 0.4, second: float = 0.9, axis: Vector = (0.0, -1.0, 0.0)) -> list[Table]:
    """Two bars of 1 m in the x–z plane, or about another axis; their tip is `TIP`."""
    return [
        link("upper", "revolute", axis, position=first),
        link("lower", "revolute", axis, parent="upper", xyz=X, position=second),
    ]


TIP = {"E": {"link": "lower", "position": [1.0, 0.0, 0.0]}}


def row(name: str, expression: str, order: int = 0) -> Table:
    """A programmed constraint."""
    return {"name": name, "expression": expression, "order": order}


def closure(name: str, kind: str, a: tuple[str, Vector], b: tuple[str, Vector], **keys: Any) -> Table:
    """A closure between places on two links; `rpy` turns both frames."""
    turn = {"rpy": list(keys.pop("rpy"))} if "rpy" in keys else {}
    ends = {side: {"link": link, "xyz": list(at)} | turn for side, (link, at) in (("a", a), ("b", b))}
    return {"name": name, "type": kind} | ends | keys


def four_bar(size: float = 1.0, at: Vector = (0.0, 0.0, 0.0), kind: str = "revolute", crank: float = 1.2) -> Table:
    """Crank 0.3 m, coupler 1 m, rocker 0.8 m, ground 0.9 m, all joints spatial, in a tilted plane."""
    tilt = (1.2, 0.0, 0.0)
    bars = {"crank": (0.3, crank, 1.0), "coupler": (1.0, -0.65571, 1.0), "rocker": (0.8, 1.49045, 0.8)}

    def bar(name: str, **keys: Any) -> Table:
        length, position, mass = bars[name]
        inertia = tuple(mass * size**2 * x for x in (0.002, 0.09, 0.09))
        com = (size * length / 2, 0.0, 0.0)
        return link(name, "revolute", Z, position=position, mass=mass, com=com, inertia=inertia, **keys)

    x, y, z = at
    links = (
        bar("crank", xyz=at, rpy=tilt),
        bar("coupler", parent="crank", xyz=(0.3 * size, 0.0, 0.0)),
        bar("rocker", xyz=(x + 0.9 * size, y, z), rpy=tilt),
    )
    pin = closure("pin", kind, ("coupler", (size, 0.0, 0.0)), ("rocker", (0.8 * size, 0.0, 0.0)))
    return machine(*links, closures=[pin])
