"""Runs that cannot go on: what became singular, or which function left its domain, and when."""

from __future__ import annotations

from .parts import TIP, WEIGHTLESS, Table, X, Y, Z, arm, awkward, closure, four_bar, link, machine, row


def _forced(effort: str, **joint: float) -> Table:
    force = {"name": "drive", "joint": "bar", "effort": effort}
    return machine(link("bar", "revolute", Z, **joint), forces=[force], gravity=WEIGHTLESS)


@awkward("stops", "drive")
def arc_cosine_of_a_state() -> Table:
    """An angle that leaves the function's domain."""
    return _forced("5 + acos(bar.angle)", position=0.9)


@awkward("stops", "the rate of bar.angle grows without bound", "check its drive")
def effort_that_explodes() -> Table:
    """exp(10⁴ t): faster than light after 3 ms."""
    return _forced("exp(1e4*t)")


@awkward("stops", "force drive", "t = 0.3 s")
def pole() -> Table:
    """1/(0.3 − t)."""
    return _forced("1/(0.3 - t)")


@awkward("stops", "reach")
def beyond_reach() -> Table:
    """A tip that is led out of the arm's reach."""
    return machine(*arm(), points=TIP, programmed=[row("reach", "E.x - start(E.x) - 4*t")])


def _slider_crank(slider: str) -> Table:
    """Crank 0.3 m, rod 1 m, slider along x; the slider is led by an expression."""
    links = [
        link("crank", "revolute", (0.0, -1.0, 0.0), position=1.0),
        link("rod", "revolute", (0.0, -1.0, 0.0), parent="crank", xyz=(0.3, 0.0, 0.0), position=-1.2553),
        link("slider", "prismatic", X, position=1.1297),
    ]
    pin = closure("pin", "point_on_line", ("rod", X), ("slider", WEIGHTLESS), rpy=(1.5707963267948966, 0.0, 0.0))
    lead = row("lead", f"slider.position - start(slider.position) - {slider}")
    return machine(*links, closures=[pin], programmed=[lead])


@awkward("stops", "lead")
def past_a_dead_centre() -> Table:
    """A slider that is led further than the crank reaches."""
    return _slider_crank("0.8*t")


@awkward("ok")
def before_a_dead_centre() -> Table:
    """A motion that ends before the dead centre."""
    return _slider_crank("0.2*t^3")


@awkward("stops", "pin_x", "singular")
def crank_that_cannot_turn() -> Table:
    """A crank of 1.2 m in place of 0.3 m is driven past where the loop can follow."""
    data = four_bar()
    data["links"][1]["frame"]["xyz"] = [1.2, 0.0, 0.0]
    data["programmed"] = [row("turn", "crank.angle - start(crank.angle) - 12*t")]
    return data


@awkward("ok")
def gimbal_lock() -> Table:
    """A free body that turns through theta = π/2, where two of its angles are one, about that axis alone."""
    body = link("body", "free", com=WEIGHTLESS, velocity=[0.0, 0.0, 0.0, 0.0, 4.0, 0.0])
    return machine(body, gravity=WEIGHTLESS)


@awkward("ok", "near-singular at t = 0.125 s")
def parallelogram_through_its_change_point() -> Table:
    """Two ways lead on from where all bars are in one line: the run takes one, and says when."""
    bars = [
        link("left", "revolute", Y, position=0.5, velocity=4.0, com=(0.25, 0.0, 0.0)),
        link("bar", "revolute", Y, parent="left", xyz=(0.5, 0.0, 0.0), position=-0.5, velocity=-4.0),
        link("right", "revolute", Y, xyz=X, position=0.5, velocity=4.0, com=(0.25, 0.0, 0.0)),
    ]
    pin = closure("pin", "spherical", ("bar", X), ("right", (0.5, 0.0, 0.0)))
    drive = row("drive", "left.angle - 0.5 + 4*t")
    bars[0]["joint"]["velocity"], bars[1]["joint"]["velocity"], bars[2]["joint"]["velocity"] = -4.0, 4.0, -4.0
    return machine(*bars, closures=[pin], programmed=[drive], simulation={"tolerance": 1e-8})


@awkward("ok")
def turned_by_a_fall() -> Table:
    """A double pendulum from the top, in half a second: fast, and nothing wrong."""
    return machine(*arm(1.5, 0.1), points=TIP)
