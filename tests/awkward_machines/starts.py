"""Starts that violate a row, or that are moved to obey one: both are said."""

from __future__ import annotations

from .parts import TIP, Table, X, Y, Z, arm, awkward, closure, four_bar, link, machine, row


def _path(start: str, *waypoints: tuple[float, float]) -> Table:
    path = {
        "point": "E",
        "components": ["x", "z"],
        "waypoints": [[x, 0.0, z] for x, z in waypoints],
        "leg_time": 0.5,
    }
    simulation = {"start": start}
    return machine(*arm(), points=TIP, programmed=[{"name": "tour", "path": path}], simulation=simulation)


@awkward("not consistent", "tour")
def path_that_begins_elsewhere() -> Table:
    """The first waypoint is 0.86 m from the tip, and nobody asks for that."""
    data = _path("statics", (1.188, 0.493), (1.2, 0.6))
    return data | {"statics": {"locked": ["upper", "lower"]}}


@awkward("ok")
def path_that_begins_elsewhere_on_purpose() -> Table:
    """The description declares a violated initial state, and Baumgarte's terms lead to the path."""
    return _path("description", (1.188, 0.493), (1.2, 0.6))


@awkward("ok")
def path_that_begins_at_the_tip() -> Table:
    """A path that begins at the position of the tip."""
    x, z = 1.1885597, 1.3529766
    return _path("description", (x, z), (x, z - 0.2))


@awkward("not consistent", "place")
def velocity_that_begins_elsewhere() -> Table:
    """A row of velocities with a jump at the start, and a start of statics."""
    data = machine(*arm(), points=TIP, programmed=[row("place", "E.x - start(E.x) - 0.2 - t")])
    return data | {"simulation": {"start": "statics", "stop": 0.3}, "statics": {"locked": ["upper", "lower"]}}


@awkward("ok", "rocker")
def loop_that_is_moved_far_to_close() -> Table:
    """A crank of 0.03 m instead of 0.3 m: the loop closes far from where it is described."""
    data = four_bar()
    data["links"][1]["frame"]["xyz"] = [0.03, 0.0, 0.0]
    return data


@awkward("ok", "crank")
def start_velocity_that_the_loop_forbids() -> Table:
    """A locked loop: the velocity that is described becomes zero."""
    data = four_bar()
    data["links"][0]["joint"]["velocity"] = 2.0
    data["links"][2]["joint"]["velocity"] = -1.0
    return data


@awkward("ok")
def pin_that_opens_by_rounding() -> Table:
    """Start velocities of ten digits: what is left of them is no contradiction."""
    data = four_bar()
    data["links"][0]["joint"]["velocity"] = 1.0
    return data


@awkward("refused", "dependent")
def no_dependent_coordinates() -> Table:
    """An empty list where one coordinate is needed."""
    rows = [row("height", "E.z - start(E.z)")]
    return machine(*arm(), points=TIP, programmed=rows, constraints={"dependent": []})


@awkward("does not hold")
def drift_without_a_cure() -> Table:
    """No Baumgarte, a coarse tolerance: the loop opens by more than a micrometre."""
    data = four_bar(kind="point_on_line")
    data["links"][0]["joint"]["velocity"] = 8.0
    data["constraints"] = {"alpha": 0.0, "beta": 0.0}
    return data | {"simulation": {"start": "description", "stop": 2.0, "tolerance": 1e-3}}


@awkward("ok")
def drift_with_projection() -> Table:
    """Projection after every step, with a tolerance at which all runs can agree."""
    data = four_bar(kind="point_on_line")
    data["constraints"] = {"alpha": 0.0, "beta": 0.0, "projection": True}
    return data


@awkward("ok")
def loose_tolerance() -> Table:
    """Solvers' errors of a millionth grow beyond that on a right machine."""
    return four_bar(kind="point_on_line") | {
        "simulation": {"start": "description", "stop": 2.0, "tolerance": 1e-6}
    }


@awkward("ok")
def input_that_nobody_gives() -> Table:
    """A force that is an input; it is zero, which is said."""
    force = {"name": "push", "joint": "slide", "input": True}
    return machine(link("slide", "prismatic", X, velocity=1.0, stiffness=10.0), forces=[force])


@awkward("ok")
def spring_far_from_its_rest() -> Table:
    """A replacement joint that begins open by 10 cm: no row is violated."""
    stiff = {"model": "spring_damper", "stiffness": [1e3, 1e3, 1e3, 0.0, 0.0, 0.0], "damping": [20.0] * 6}
    pin = closure("pin", "spherical", ("ground", (1.0, 0.0, 0.1)), ("bar", X), **stiff)
    return machine(link("bar", "revolute", Y), link("top", "revolute", Z, parent="bar", xyz=X), closures=[pin])
