"""Rows that other rows imply: they hold, or they are refused; and those that begin to contradict stop the run."""

from __future__ import annotations

from .parts import TIP, WEIGHTLESS, Table, Vector, Y, Z, arm, awkward, closure, link, machine, row


@awkward("refused", "one", "two")
def contradictory_pair() -> Table:
    """Two rows that cannot both hold."""
    return machine(
        *arm(), points=TIP, programmed=[row("one", "E.x - start(E.x)"), row("two", "E.x - start(E.x) - 0.1")]
    )


@awkward("refused", "height", "0.3")
def only_a_height_out_of_the_plane() -> Table:
    """A single constraint normal to the plane of motion has rank 0."""
    return machine(*arm(axis=Z), points=TIP, programmed=[row("height", "E.z - 0.3")])


@awkward("refused", "rod")
def rod_at_its_greatest_distance() -> Table:
    """A crank that a rod holds at its dead centre: the row is zero, and yet nothing can move."""
    rod = closure("rod", "distance", ("ground", (-1.0, 0.0, 0.0)), ("crank", (0.5, 0.0, 0.0)), length=1.5)
    return machine(link("crank", "revolute", Y), closures=[rod])


def _rods(angle: float, third: float, **tables: object) -> Table:
    """Parallelogram of two cranks of 0.5 m and a coupler of 2 m in the x–z plane; a third crank at its middle."""
    cranks = [
        link(
            name,
            "revolute",
            (0.0, -1.0, 0.0),
            xyz=(x, 0.0, 0.0),
            position=angle,
            com=(0.25, 0.0, 0.0),
            velocity=speed,
        )
        for name, x, speed in (("first", 0.0, 1.0), ("second", 2.0, 1.0), ("third", 1.0, 1.0))
    ]
    coupler = link("coupler", "revolute", (0.0, -1.0, 0.0), parent="first", xyz=(0.5, 0.0, 0.0), position=-angle)
    coupler["joint"]["velocity"] = -1.0
    pins = [
        _pin("far", ("coupler", (2.0, 0.0, 0.0)), ("second", (0.5, 0.0, 0.0))),
        _pin("middle", ("coupler", (1.0, 0.0, 0.0)), ("third", (third, 0.0, 0.0))),
    ]
    return machine(*cranks, coupler, closures=pins, **tables)


def _pin(name: str, a: tuple[str, Vector], b: tuple[str, Vector]) -> Table:
    """A spherical pin in a planar linkage."""
    return closure(name, "spherical", a, b)


@awkward("ok", dof=1)
def three_parallel_cranks() -> Table:
    """The third one is redundant, and fits."""
    return _rods(1.0, 0.5)


@awkward("refused", "middle")
def third_crank_too_long() -> Table:
    """The third one fits nowhere."""
    return _rods(1.0, 0.55)


@awkward("refused", "far")
def flat_parallelogram() -> Table:
    """All bars in one line: rows depend on each other there, and nowhere else."""
    return _rods(0.0, 0.5)


@awkward("refused", "pin")
def flat_toggle() -> Table:
    """Two bars in one line between fixed pivots, and a spring: a row is left out that the next moment needs."""
    bars = [
        link("left", "revolute", Y, stiffness=50.0, rest=0.4),
        link("right", "revolute", Y, parent="left", xyz=(1.0, 0.0, 0.0)),
    ]
    pin = closure("pin", "spherical", ("ground", (2.0, 0.0, 0.0)), ("right", (1.0, 0.0, 0.0)))
    return machine(*bars, closures=[pin])


@awkward("refused", "one, two")
def contradiction_by_state() -> Table:
    """Rows that agree until the arm has turned by 0.05 rad."""
    rows = [row("one", "a.angle - 0.3*t"), row("two", "2*a.angle - 0.6*t + 0.1*max(0, a.angle - 0.05)")]
    return machine(
        link("a", "revolute", Y), link("b", "revolute", Y, parent="a", xyz=(1.0, 0.0, 0.0)), programmed=rows
    )


@awkward("ok", dof=1)
def velocities_said_twice() -> Table:
    """A row of velocities and the same row of positions."""
    rows = [row("place", "E.z - start(E.z)"), row("speed", "E.vz", 1)]
    return machine(*arm(), points=TIP, programmed=rows)


@awkward("refused", "place", "speed")
def velocity_against_position() -> Table:
    """A row of velocities that contradicts one of positions."""
    rows = [row("place", "E.z - start(E.z)"), row("speed", "E.vz - 0.1", 1)]
    return machine(*arm(), points=TIP, programmed=rows)


@awkward("refused", "rod")
def body_held_too_often() -> Table:
    """A free body on seven rods, one of which is too long to fit."""
    corners = (
        (1.0, 0.0, 0.0),
        (0.0, 1.0, 0.0),
        (0.0, 0.0, 1.0),
        (-1.0, 0.0, 0.0),
        (0.0, -1.0, 0.0),
        (0.0, 0.0, -1.0),
    )
    rods = [
        closure(f"rod{k}", "distance", ("ground", tuple(2 * x for x in c)), ("body", c), length=1.0)  # type: ignore[arg-type]
        for k, c in enumerate(corners)
    ]
    rods.append(closure("rod6", "distance", ("ground", (3.0, 0.0, 0.0)), ("body", (1.0, 0.0, 0.0)), length=2.5))
    return machine(link("body", "free", com=WEIGHTLESS), closures=rods)
