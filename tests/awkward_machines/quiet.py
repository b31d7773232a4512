"""Machines that hardly move: no signal may be measured by its own rounding noise."""

from __future__ import annotations

import math

from .parts import TIP, WEIGHTLESS, Table, Vector, X, Y, Z, arm, awkward, closure, link, machine, row


@awkward("ok")
def constant_effort() -> Table:
    """One revolute link under a constant effort: its acceleration is constant."""
    force = {"name": "drive", "joint": "arm", "effort": 2.0}
    return machine(link("arm", "revolute", Z), gravity=WEIGHTLESS, forces=[force])


@awkward("ok")
def turning_earth() -> Table:
    """A long pendulum on a table that turns as slowly as the earth, by a row: its rate is constant."""
    earth = link("earth", "revolute", Z, velocity=5.5e-5)
    bob = link("bob", "universal", parent="earth", rpy=(0.0, math.pi / 2, 0.0), position=[0.0, 0.03])
    bob |= {"mass": 28.0, "com": [67.0, 0.0, 0.0], "inertia": [0.01] * 3}
    return machine(earth, bob, programmed=[row("turn", "earth.angle - 5.5e-5*t")])


def _telescope(gravity: Vector) -> Table:
    azimuth = link("fork", "revolute", Z, velocity=7.3e-5)
    tube = link("tube", "revolute", (0.0, -1.0, 0.0), parent="fork", position=0.5, velocity=5.1e-5)
    rows = [row("azimuth", "fork.angle - 7.3e-5*t"), row("height", "tube.angle - 0.5 - 5.1e-5*t")]
    return machine(azimuth, tube, programmed=rows, gravity=list(gravity))


@awkward("ok")
def follows_a_star() -> Table:
    """Both axes are led at hardly any rate, which solvers must not take for nothing."""
    return _telescope((0.0, 0.0, -9.81))


@awkward("ok")
def follows_a_star_in_space() -> Table:
    """Without gravity, no weight gives the accelerations a magnitude."""
    return _telescope(WEIGHTLESS)


@awkward("ok")
def coasting_wheel() -> Table:
    """A wheel that turns without a load: no acceleration at all."""
    return machine(link("wheel", "revolute", Z, com=WEIGHTLESS, velocity=3.0))


@awkward("ok")
def falling_body() -> Table:
    """A free body that falls without spin."""
    return machine(link("stone", "free", position=[0.0, 0.0, 10.0, 0.0, 0.0, 0.0]))


@awkward("ok")
def spinning_body() -> Table:
    """A free body that is thrown with spin."""
    return machine(link("plate", "free", velocity=[1.0, 0.0, 2.0, 3.0, 1.0, 0.5], inertia=(0.1, 0.2, 0.25)))


@awkward("ok")
def hanging_pendulum() -> Table:
    """At rest in its equilibrium: everything is zero."""
    return machine(link("rod", "revolute", Y, position=math.pi / 2))


@awkward("ok")
def body_at_rest() -> Table:
    """A free body without weight that nothing moves."""
    return machine(link("stone", "free"), gravity=WEIGHTLESS)


@awkward("ok")
def pushed_slide() -> Table:
    """A slide under a constant force, level, so that its load is constant, too."""
    force = {"name": "push", "joint": "slide", "effort": 5.0}
    return machine(link("slide", "prismatic", X), forces=[force], outputs={"loads": "all"})


@awkward("ok")
def balanced_scale() -> Table:
    """A beam that is balanced on its pivot, with two pans."""
    pans = [
        link(
            name, "revolute", Y, parent="beam", xyz=(side, 0.0, 0.0), com=(0.0, 0.0, -0.3), inertia=(0.1, 0.1, 0.1)
        )
        for name, side in (("left", -1.0), ("right", 1.0))
    ]
    return machine(link("beam", "revolute", Y, com=WEIGHTLESS, inertia=(0.1, 0.5, 0.5)), *pans)


@awkward("ok")
def arm_in_static_equilibrium() -> Table:
    """Springs hold an arm where statics put it; nothing happens after that."""
    links = arm(0.1, 0.1)
    for bar in links:
        bar["joint"] |= {"stiffness": 300.0, "damping": 5.0}
    return machine(*links, points=TIP, simulation={"start": "statics"})


@awkward("ok")
def held_arm() -> Table:
    """A task holds the tip of an arm of two bars where it is: efforts are constant, motion is noise."""
    rows = [{"name": f"hold_{axis}", "expression": f"E.{axis} - start(E.{axis})"} for axis in "xz"]
    return machine(*arm(), points=TIP, programmed=rows)


@awkward("ok")
def light_beside_heavy() -> Table:
    """A link of 1 g on one of 100 t, and neither is the other's noise."""
    hull = link("hull", "prismatic", X, mass=1e5, inertia=(1e5, 1e5, 1e5), stiffness=1e6, position=0.1)
    needle = link(
        "needle", "revolute", Y, parent="hull", mass=1e-3, com=(0.1, 0.0, 0.0), inertia=(1e-6, 1e-5, 1e-5)
    )
    return machine(hull, needle)


@awkward("ok", dof=6)
def stewart_platform() -> Table:
    """A platform on six springy legs with universal and ball joints, at default settings."""
    plate = link("plate", "free", position=[0.0, 0.0, 2.0, 0.0, 0.0, 0.0], mass=50.0, com=WEIGHTLESS)
    plate["inertia"] = [8.0, 8.0, 15.0]
    links, balls = [plate], []
    for k in range(6):
        middle, side = 2 * math.pi * (k // 2) / 3, (-1) ** k
        foot, head = _on_circle(1.5, middle + 0.2 * side), _on_circle(1.0, middle + (math.pi / 3 - 0.2) * side)
        links += _leg(k, foot, (head[0], head[1], 2.0))
        balls.append(closure(f"ball{k}", "spherical", (f"leg{k}", WEIGHTLESS), ("plate", head)))
    return machine(*links, closures=balls)


def _on_circle(radius: float, angle: float) -> Vector:
    return radius * math.cos(angle), radius * math.sin(angle), 0.0


def _leg(k: int, foot: Vector, head: Vector) -> list[Table]:
    """A tube on a universal joint and a rod that slides in it, along x."""
    x, y, z = (b - a for a, b in zip(foot, head, strict=True))
    length, rpy = math.hypot(x, y, z), (0.0, -math.atan2(z, math.hypot(x, y)), math.atan2(y, x))
    spring = {"position": length, "rest": length, "stiffness": 2e4, "damping": 200.0}
    return [
        link(f"tube{k}", "universal", xyz=foot, rpy=rpy),
        link(f"leg{k}", "prismatic", X, parent=f"tube{k}", com=(-0.3, 0.0, 0.0), **spring),
    ]
