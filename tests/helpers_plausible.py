"""Small mechanisms for the fourth line of the verdict, and the remarks on them."""

from __future__ import annotations

from typing import Any

import helpers_problem as solving
from helpers_parts import Table, X, Y, Z, body, link, machine

from gpmelica import plausibility
from gpmelica.analysis.system import assemble_system
from gpmelica.description.load import from_data
from gpmelica.plausibility import Remark


def remarks(table: Table, case: str | None = None) -> list[Remark]:
    """Remarks on a description."""
    return list(plausibility.of_description(assemble_system(from_data(table, case))))


def remarks_of_run(table: Table, inputs: Any = None) -> list[Remark]:
    """Remarks on a description and its reference run."""
    model = assemble_system(from_data(table))
    run = solving.simulate(model.mechanism, start=model.start, inputs=inputs)
    return list(plausibility.of_run(model, run, problem=model.with_inputs(inputs)))


def ids(found: list[Remark]) -> list[str]:
    """Kinds of remarks."""
    return [remark.id for remark in found]


def crane(load: float = 100.0, *, stop: float = 0.2, effort: str = "0", **tables: Any) -> Table:
    """A base of 1,000 kg on four unilateral outriggers, 2 m by 2 m, with a load on a boom of 3 m along x.

    Parameters
    ----------
    load : float
        Mass at the tip of the boom, kg. The crane tips above 500 kg: 1 m of lever for the base, 2 m for the load.
    effort : str
        Force on the tip downwards, N, an expression of t.
    """
    supports = [
        {
            "name": f"{row}_{side}",
            "one_sided": True,
            "position": [x, y, 0.0],
            "stiffness": [1e6, 1e6, 2e6],
            "damping": [3e4, 3e4, 6e4],
        }
        for row, x in (("front", 1.0), ("rear", -1.0))
        for side, y in (("left", 1.0), ("right", -1.0))
    ]
    boom = link("boom", "fixed", parent="base") | body(load, [3.0, 0.0, 0.5], [0.1, 0.1, 0.1])
    force = {"name": "pull", "link": "boom", "point": [3.0, 0.0, 0.5], "force": ["0", "0", f"-({effort})"]}
    base = body(1000.0, [0.0, 0.0, 0.0], [400.0, 400.0, 700.0]) | {"supports": supports}
    return machine(boom, base=base, forces=[force], simulation={"stop": stop, "start": "statics"}) | tables


def hanging(rest: Any = 2.0, *, stop: float = 0.2, **changes: Any) -> Table:
    """A load of 10 kg, 2 m below the ground's origin, on a vertical guide and a rope."""
    load = link("load", "prismatic", Z, position=-2.0) | body(10.0, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    rope = {"name": "rope", "a": {"link": "ground"}, "b": {"link": "load"}, "stiffness": 1e5, "damping": 1e3}
    rope |= {"rest": rest, "tension_only": True} | changes.pop("rope", {})
    simulation = {"stop": stop, "start": "description"}
    return machine(load, lines=[rope], simulation=simulation) | changes


def pendulum(
    mass: float = 10.0, com: Any = (0.5, 0.0, 0.0), inertia: Any = (0.1, 1.0, 1.0), **tables: Any
) -> Table:
    """A body on a revolute joint, hanging along −z, with a point 1 m from the joint."""
    swing = link("rod", "revolute", Y, rpy=[0.0, 1.5707963267948966, 0.0]) | body(mass, com, inertia)
    return machine(swing, points={"E": {"link": "rod", "position": X}}, simulation={"stop": 0.1}) | tables
