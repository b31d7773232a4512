"""Machines on which a verdict was once wrong: red on a right one, green on a wrong one, or a run without end."""

from __future__ import annotations

import helpers_sensitive as sensitive

from .parts import TIP, WEIGHTLESS, Table, X, Y, Z, arm, awkward, closure, four_bar, link, machine, row

_TURN = (0.3, 0.2, 0.1)


@awkward("ok")
def ball_on_a_hard_floor() -> Table:
    """Impacts without losses amplify errors of their times."""
    return sensitive.bouncing_ball()


@awkward("ok")
def pendulum_between_two_stops() -> Table:
    """Impacts on both sides."""
    return sensitive.pendulum_between_stops()


@awkward("ok")
def body_with_play() -> Table:
    """Contacts on both sides, forced by a sine."""
    return sensitive.backlash()


@awkward("ok")
def chaotic_double_pendulum() -> Table:
    """No two solvers agree on the last seconds."""
    return sensitive.double_pendulum()


@awkward("ok")
def robot_that_falls() -> Table:
    """Six joints without damping."""
    return sensitive.falling_robot()


@awkward("ok")
def turntable_of_a_few_nanoradians() -> Table:
    """All signals are small, and right."""
    return sensitive.slow_turntable()


@awkward("ok")
def spring_of_a_trillion_newtons_per_metre() -> Table:
    """The fast vibration decays at once."""
    return sensitive.stiff_oscillator()


@awkward("ok")
def needle_on_a_swing() -> Table:
    """A vibration of 0.1 µm on a swing of a metre."""
    return sensitive.small_fast_vibration()


@awkward("ok", dof=0)
def locked_in_space() -> Table:
    """Nothing acts and nothing can move: rounding would be compared with rounding."""
    bar = link("bar", "revolute", (0.6, 0.0, 0.8), xyz=(0.1, 0.2, 0.3), rpy=_TURN)
    lock = {"name": "lock", "type": "fixed", "a": {"link": "ground", "xyz": [0.1, 0.2, 0.3], "rpy": list(_TURN)}}
    lock |= {"b": {"link": "bar"}}
    return machine(bar, closures=[lock], gravity=WEIGHTLESS, outputs={"loads": "all"})


@awkward("ok")
def slack_rope_that_is_pulled() -> Table:
    """A rope with damping that is shorter than its rest length, until its end has moved away."""
    rope = {"name": "rope", "a": {"link": "ground"}, "b": {"link": "slide"}, "tension_only": True}
    rope |= {"stiffness": 1000.0, "damping": 3000.0, "rest": 1.0}
    return machine(link("slide", "prismatic", X, position=0.8, velocity=1.0), lines=[rope], gravity=WEIGHTLESS)


@awkward("ok")
def base_that_hops() -> Table:
    """A ballast on a spring lifts the outriggers, whose dampers do not hold them on the ground."""
    feet = [
        {"position": [x, y, 0.0], "stiffness": [1e5, 1e5, 1e6], "damping": [1e3, 1e3, 1e4], "one_sided": True}
        for x in (-1.0, 1.0)
        for y in (-1.0, 1.0)
    ]
    base = {"mass": 50.0, "com": [0.0, 0.0, 0.3], "inertia": [10.0, 10.0, 10.0], "supports": feet}
    spring = {"stiffness": 2e4, "velocity": 3.0}
    ballast = link("ballast", "prismatic", Z, parent="base", mass=50.0, com=WEIGHTLESS, **spring)
    return machine(ballast, base=base, simulation={"output_step": 0.005})


@awkward("stops", "line leg passes through zero", "stay apart")
def line_through_its_own_end() -> Table:
    """A cart that passes the end of its spring: the force has no direction there."""
    leg = {"name": "leg", "a": {"link": "ground"}, "b": {"link": "cart"}, "stiffness": 3.0, "rest": 0.2}
    cart = link("cart", "prismatic", X, position=-0.3, velocity=1.0, com=WEIGHTLESS)
    return machine(cart, lines=[leg], gravity=WEIGHTLESS)


@awkward("ok", dof=0)
def clamp_turned_by_two_thirds_of_a_half_turn() -> Table:
    """Three cosines vanish at 120°, too: the clamp is closed the right way round."""
    lock = closure("lock", "fixed", ("ground", WEIGHTLESS), ("ball", WEIGHTLESS))
    lock["a"]["rpy"] = [0.0, 0.0, 2.0943951023931953]
    return machine(link("ball", "spherical", com=(0.1, 0.0, 0.0)), closures=[lock])


@awkward("ok", dof=1)
def axis_tilted_by_a_rounding() -> Table:
    """A four-bar whose coupler's axis is off by 1e-8 rad moves like an exact one."""
    data = four_bar()
    data["links"][1]["joint"]["axis"] = [1e-8, 0.0, 1.0]
    return data


@awkward("not consistent", "far")
def projection_of_a_violated_start() -> Table:
    """Projection does not move what the description fixes."""
    rows = [row("far", "E.z - start(E.z) + 0.3")]
    data = machine(*arm(), points=TIP, programmed=rows, constraints={"projection": True})
    return data | {"simulation": {"start": "statics", "stop": 0.3}, "statics": {"locked": ["upper", "lower"]}}


@awkward("ok")
def gust_of_thirty_milliseconds() -> Table:
    """One gust in ten seconds, on a machine at rest."""
    gust = {"name": "gust", "joint": "slide", "effort": "100*exp(-((t - 6.3217)/0.01)^2)"}
    times = {"stop": 10.0, "output_step": 0.1}
    return machine(link("slide", "prismatic", Y), forces=[gust], gravity=WEIGHTLESS, simulation=times)
