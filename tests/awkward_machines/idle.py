"""Rows that the joints fulfil by themselves; machines that are small, large or far away: the rank stays."""

from __future__ import annotations

import math

from .parts import TIP, WEIGHTLESS, Table, X, Y, Z, arm, awkward, closure, four_bar, link, machine, row

_TURN = (0.3, -0.4, 0.5)
_ALONG_Y = (math.pi / 2, 0.0, 0.0)


def _door(*heights: float) -> Table:
    """A door that its joint and further hinges hold on one axis, which is oblique in the world."""
    door = link("door", "revolute", Z, rpy=_TURN, com=(0.4, 0.0, 0.0), velocity=1.0)
    hinges = [_hinge(f"hinge{k}", height) for k, height in enumerate(heights)]
    return machine(door, closures=hinges)


def _hinge(name: str, height: float) -> Table:
    """On the door's axis, `height` up; the frames are those of the joint."""
    roll, pitch, yaw = _TURN
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (math.cos, math.sin))
    axis = (cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr)
    a = {"link": "ground", "xyz": [height * x for x in axis], "rpy": list(_TURN)}
    return {"name": name, "type": "revolute", "a": a, "b": {"link": "door", "xyz": [0.0, 0.0, height]}}


@awkward("ok", dof=1)
def door_on_two_hinges() -> Table:
    """Two coaxial hinges: redundant constraints contain rounding noise instead of zeros, and one degree of
    freedom is left.
    """
    return _door(1.0)


@awkward("ok", dof=1)
def door_on_three_hinges() -> Table:
    """Three coaxial hinges leave one degree of freedom."""
    return _door(0.7, 1.4)


@awkward("ok", dof=1)
def shaft_in_two_bearings() -> Table:
    """Along y, so that its rows are exactly zero: rank 0 with closures."""
    shaft = link("shaft", "revolute", Z, rpy=_ALONG_Y, com=(0.05, 0.0, 0.0), velocity=2.0)
    second = {"link": "ground", "xyz": [0.0, -1.0, 0.0], "rpy": list(_ALONG_Y)}
    end = {"link": "shaft", "xyz": [0.0, 0.0, 1.0]}
    return machine(shaft, closures=[{"name": "bearing", "type": "revolute", "a": second, "b": end}])


@awkward("ok", dof=1)
def drawer_on_two_rails() -> Table:
    """A slide closed by a second, parallel one."""
    drawer = link("drawer", "prismatic", Z, rpy=_ALONG_Y, position=0.2, velocity=0.3)
    rail = closure("rail", "prismatic", ("ground", (0.5, 0.0, 0.0)), ("drawer", (0.5, 0.0, 0.0)))
    rail["a"]["rpy"] = list(_ALONG_Y)
    return machine(drawer, closures=[rail])


@awkward("ok", dof=3)
def ball_on_a_rod_from_its_centre() -> Table:
    """A distance closure between a ball joint's centre and a place on its link."""
    ball = link("ball", "spherical", position=[0.3, 0.2, 0.1], velocity=[0.5, 1.0, 0.0])
    rod = closure("rod", "distance", ("ground", WEIGHTLESS), ("ball", (0.0, 0.6, 0.8)), length=1.0)
    return machine(ball, closures=[rod])


@awkward("ok", dof=2)
def height_of_a_level_arm() -> Table:
    """A planar arm whose tip is to keep the height that it cannot leave."""
    return machine(*arm(axis=Z), points=TIP, programmed=[row("level", "E.z")])


@awkward("ok", dof=2)
def two_knife_edges_of_one_axle() -> Table:
    """Two wheels on one axle roll without slip: the second edge says what the first one says."""
    cart = link("cart", "planar", velocity=[1.0, 0.0, 0.5], com=(0.1, 0.0, 0.0))
    wheels = [
        {"name": f"wheel{k}", "link": "cart", "point": [0.0, side, 0.0], "normal": [0.0, 1.0, 0.0]}
        for k, side in enumerate((-0.4, 0.4))
    ]
    return machine(cart, nonholonomic=wheels)


@awkward("ok", dof=1)
def knife_edge_of_a_slide() -> Table:
    """An edge along a slide: rank 0 with nonholonomic rows."""
    skate = {"name": "skate", "link": "slide", "normal": [0.0, 1.0, 0.0]}
    return machine(link("slide", "prismatic", X, velocity=1.0), nonholonomic=[skate])


@awkward("ok", dof=1)
def four_bar_of_a_metre() -> Table:
    """Planar, closed by a spatial joint: three of its five rows are redundant."""
    return four_bar()


@awkward("ok", dof=1)
def four_bar_of_ten_micrometres() -> Table:
    """Four-bar linkage scaled by 1e-5."""
    return four_bar(1e-5) | {"simulation": {"start": "description", "stop": 0.005, "output_step": 1e-4}}


@awkward("ok", dof=1)
def four_bar_of_a_hundred_metres() -> Table:
    """Four-bar linkage scaled by 100."""
    return four_bar(100.0)


@awkward("ok", dof=1)
def four_bar_a_hundred_kilometres_away() -> Table:
    """Four-bar linkage at a distance of 1e5 m from the origin."""
    return four_bar(at=(1e5, -5e4, 1e4))


@awkward("ok")
def pendulum_ten_kilometres_away() -> Table:
    """A double pendulum 1e4 m from the origin."""
    return _far(1e4)


@awkward("ok")
def pendulum_a_thousand_kilometres_away() -> Table:
    """Pendulum at a distance of 1e6 m from the origin."""
    return _far(1e6)


@awkward("refused", "links[0].com (body)", "1.16e+06 m from", "closer to the centre of mass")
def free_body_far_from_its_own_frame() -> Table:
    """The centre of mass is 1e6 m from the frame that the coordinates describe."""
    return _mass_at(1e6)


@awkward("ok")
def free_body_beside_its_own_frame() -> Table:
    """A centre of mass 100 m from the body's frame costs only a few digits."""
    return _mass_at(1e2)


def _mass_at(way: float) -> Table:
    spin = [0.0, 0.0, 0.0, 0.3, -0.2, 0.1]
    return machine(link("body", "free", com=(way, -0.5 * way, 0.3 * way), velocity=spin))


def _far(way: float) -> Table:
    links = arm(axis=Y)
    links[0]["frame"] = {"xyz": [way, -0.5 * way, 0.3 * way]}
    return machine(*links, points=TIP)


@awkward("ok")
def free_body_without_a_row() -> Table:
    """A loop that springs close has no rows at all."""
    stiff = {"model": "spring_damper", "stiffness": [1e4, 1e4, 1e4, 10.0, 10.0, 10.0], "damping": [50.0] * 6}
    hook = closure("hook", "fixed", ("ground", WEIGHTLESS), ("body", WEIGHTLESS), **stiff)
    return machine(link("body", "free"), closures=[hook])
