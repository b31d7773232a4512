"""Functions that test coupled FMUs at the initial time and choose a coupling method for each group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import SolveError
from ..core.trajectory import Array
from . import courses as polynomials
from .master import Master, Settings
from .network import CoupledGroup, Network
from .participant import PartFailed
from .ports import is_force, is_motion, positions
from .self_test import tested
from .stepping import (
    GOLDEN,
    HERMITE,
    MEAN,
    PIN,
    SEQUENTIAL,
    Present,
    Step,
    Stepper,
    connection_of,
    gains_of,
    indices,
)
from .system import CouplingRemark

# A step resolves the vibration of a connection if the angular frequency times the step is at most this value.
_FAST = 2.0
# A test step has this fraction of the length of a communication step, so masses hardly move.
_SHORT = 1e-3


@dataclass(frozen=True)
class MethodChoice:
    """Coupling method of a group of FMUs, and the reason for the choice.

    Parameters
    ----------
    method : `sequential`, `hermite`, `mean_force` or `pin`
    order : degree of extrapolation for the method `sequential`, order of convergence for other
        methods
    reason : reason for the choice, as a phrase for the report
    """

    method: str
    order: int
    reason: str


def rehearse(
    network: Network, settings: Settings, method: str | None = None, order: int | None = None
) -> tuple[list[MethodChoice], list[CouplingRemark]]:
    """Test the coupled FMUs at the start and choose a coupling method for each group of FMUs.

    The tests advance the FMUs, so all FMUs must be started again before the run. If an FMU declares
    a capability that it does not have, this capability is not used.

    Parameters
    ----------
    network : FMUs and their connections
    settings : time span, tolerance and step of the run
    method : coupling method chosen by the user; with None or `auto`, a method is chosen for each
        group
    order : degree of extrapolation chosen by the user, or None

    Returns
    -------
    choices : one choice per group, in the order of the groups
    remarks : facts for the user about the FMUs and their coupling

    Raises
    ------
    SolveError : if the FMUs form a loop and support no coupling method that is stable for this loop
    ClaimFailed : if an FMU reports an error in a call although it declares that it supports the
        call
    """
    master = Master(network, [], settings)
    present = master.initial()
    remarks = [*_ambiguous(network, present, master.second)]
    for k, part in enumerate(network.parts):
        remarks += tested(network, k, part, present, settings)
    choices = []
    for group in network.groups:
        choice, more = _chosen(network, group, settings, present, method, order)
        choices.append(choice)
        remarks += more
    return choices, remarks


def _ambiguous(network: Network, present: Present, second: Array | None) -> Iterator[CouplingRemark]:
    if second is None:
        return
    taken = present.values[: network.n_y]
    row = int(np.argmax(np.abs(second[: network.n_y] - taken)))
    label = network.label(row)
    text = (
        f"the loop of connections has several solutions at the start: {label} = {taken[row]:.6g} is taken,"
        f" {second[row]:.6g} is another one; give start values of inputs that are close to the right solution"
    )
    yield CouplingRemark("several_solutions", label, text)


def _chosen(
    network: Network,
    group: CoupledGroup,
    settings: Settings,
    present: Present,
    method: str | None,
    order: int | None,
) -> tuple[MethodChoice, list[CouplingRemark]]:
    if not group.loops:
        return MethodChoice(
            SEQUENTIAL,
            2 if order is None else order,
            "no loop: the FMUs are advanced in turn",
        ), []
    stuck = [network.parts[k].name for k in group.parts if not network.parts[k].abilities.restores]
    wished = None if method == "auto" else method
    if len(group.pins):
        if wished not in (None, PIN):
            place = ".".join(network.pins[group.pins[0] - network.n_y].first)
            raise SolveError(
                f"coupling: the method {wished} cannot enforce the rigid connection at {place}; use --method"
                f" {PIN}, or simulate an archive in which spring-dampers (bushings) replace rigid joints"
            )
        if stuck:
            raise SolveError(
                f"coupling: rigid connections require FMUs that can restore their state; {', '.join(stuck)} cannot"
            )
        reason = f"{len(group.pins)} pairs of positions must agree: forces keep them together"
        return MethodChoice(PIN, 4 if _pinned_only(network, group) else held_order(network, group), reason), []
    if wished == SEQUENTIAL or (wished is None and stuck):
        return _sequential(network, group, order, stuck, wished is not None)
    if stuck:
        raise SolveError(
            f"coupling: the method {wished} repeats steps, but {', '.join(stuck)} cannot restore a state; use"
            f" --method {SEQUENTIAL}"
        )
    speed = _connection_speed(network, group, present, settings.nominal)
    if wished == MEAN and speed is None:
        raise SolveError(
            f"coupling: the method {MEAN} requires springs and dampers as separate FMUs without states;"
            f" use --method {HERMITE}, or put the springs and dampers into separate FMUs"
        )
    if wished == MEAN or (wished is None and speed is not None and speed * settings.nominal > _FAST):
        return _mean(speed or 0.0, settings.nominal)
    more = [] if speed is None else [f", ωH = {speed * settings.nominal:.2g}"]
    reason = "a loop of FMUs that can restore their states" + "".join(more)
    return MethodChoice(HERMITE, held_order(network, group), reason), []


def held_order(network: Network, group: CoupledGroup) -> int:
    """Return the highest order of convergence that a group of FMUs can reach.

    The order is 4 if all FMUs accept inputs that vary within a step. An FMU that accepts only
    constant inputs limits the order to 2. If outputs of such an FMU depend directly on its inputs,
    the order is 1.
    """
    holding = [part for k in group.parts if not (part := network.parts[k]).abilities.takes_courses and part.inputs]
    if not holding:
        return 4
    direct = [part.gains() for part in holding if part.abilities.memory]
    return 1 if any(gains is not None and gains.any() for gains in direct) else 2


def _pinned_only(network: Network, group: CoupledGroup) -> bool:
    return not connection_of(network, group).any()


def _mean(speed: float, h: float) -> tuple[MethodChoice, list[CouplingRemark]]:
    text = (
        f"the frequency of the connection, {speed:.3g} rad/s, is too high for the communication step of {h:g} s"
        f" (ωH = {speed * h:.2g}): its vibration is not resolved, but its energy is conserved"
    )
    fast = speed * h > _FAST
    why = "a connection is too fast for the step" if fast else "chosen by the user"
    remarks = [CouplingRemark("connection_above_step", "group", text)] if fast else []
    return MethodChoice(MEAN, 2, f"{why}, ωH = {speed * h:.2g}: constant mean force"), remarks


def _sequential(
    network: Network, group: CoupledGroup, order: int | None, stuck: list[str], wished: bool
) -> tuple[MethodChoice, list[CouplingRemark]]:
    """Choose the sequential method with the highest order of extrapolation that is stable.

    The loop gain is the factor by which a step multiplies an error of the extrapolated inputs. A
    larger loop gain requires a lower order. An order or method chosen by the user is not changed.

    Raises
    ------
    SolveError : if no order is stable and the user has not chosen the method
    """
    remarks = []
    gain = _loop_gain(network, group)
    names = ", ".join(stuck)
    if stuck:
        text = f"{names} cannot restore a state, so steps cannot be repeated; this costs most of the accuracy"
        remarks.append(CouplingRemark("cannot_restore", names, text))
    limits = [1.0 / (2.0 ** (q + 1) - 1.0) for q in range(3)]
    most = max((q for q in range(3) if gain is None or gain < limits[q]), default=-1)
    wish = 2 if order is None else order
    if gain is not None and gain >= limits[min(wish, 2)]:
        text = _beyond(gain, wish, limits[min(wish, 2)], _takes_motion(network, group))
        remarks.append(CouplingRemark("mass_ratio", "group", text))
        if most < 0 and not wished:
            raise SolveError(f"coupling: {text}")
    chosen = wish if order is not None or wished else min(wish, max(most, 0))
    reason = f"{names} cannot restore a state" if stuck else "chosen by the user"
    return MethodChoice(
        SEQUENTIAL, chosen, f"{reason}: sequential steps with extrapolation of order {chosen}"
    ), remarks


def _beyond(gain: float, order: int, limit: float, driven: str) -> str:
    """Return a sentence that explains why an order of extrapolation is unstable in a loop of FMUs.

    Parameters
    ----------
    gain : factor by which the loop multiplies an error in each step
    order : order of extrapolation
    limit : largest gain for which this order is stable
    driven : names of the FMUs that receive motions and return forces, or an empty text
    """
    text = f"the loop multiplies an error by {gain:.3g} in each step; order {order} is stable below {limit:.3g}"
    if driven:
        text += (
            f"; this is the apparent mass of {driven}, the side that receives the motion, over that of the other"
        )
    if gain < 1.0:
        return f"{text}; lower --order, or use FMUs that can restore their states"
    side = (
        f"{driven} is heavier: let it provide the motion and receive the force"
        if driven
        else ("with forces and motions as signals, let the heavier side provide the motion")
    )
    return f"{text}; {side}, or use FMUs that can restore their states"


def _takes_motion(network: Network, group: CoupledGroup) -> str:
    """Return the names of the FMUs of a group that receive motions and return forces.

    The unit of a signal shows whether the signal is a motion or a force.
    """
    parts = [network.parts[k] for k in group.parts]
    found = [p.name for p in parts if any(map(is_motion, p.inputs)) and any(map(is_force, p.outputs))]
    return ", ".join(found)


def _loop_gain(network: Network, group: CoupledGroup) -> float | None:
    """Return the factor by which one sequential step multiplies an error of the extrapolated inputs.

    The FMUs are advanced one after another, and a later FMU receives the new outputs of earlier
    FMUs. Only connections back to an earlier FMU use extrapolated values. These connections pass
    errors on to the next step. The result is None if an FMU does not provide the derivatives of its
    outputs with respect to its inputs.
    """
    gains, connection = gains_of(network, group), connection_of(network, group)
    if gains is None:
        return None
    place = {part: k for k, part in enumerate(group.parts)}
    column = [place[k] for k in group.parts for _ in network.parts[k].inputs]
    row = [place[k] for k in group.parts for _ in network.parts[k].outputs]
    forwards = np.array(row)[None, :] < np.array(column)[:, None]
    at_once = np.eye(len(row)) - gains @ (connection * forwards)
    passed = np.linalg.solve(at_once, gains @ (connection * ~forwards))
    return float(np.max(np.abs(np.linalg.eigvals(passed)), initial=0.0))


def _connection_speed(network: Network, group: CoupledGroup, present: Present, h: float) -> float | None:
    """Return the largest angular frequency, rad/s, of vibrations on the springs between FMUs.

    A change of the spring forces moves the FMUs during a step, and this motion changes the spring
    forces again. The ratio of the second force change to the first one determines the frequency.
    Two step lengths are tested, because the ratio is zero if a step is a multiple of an FMU's
    vibration period. If an FMU supports only equal steps, only the communication step is tested.

    The result is None if an extrapolated signal is not an output of a force law (FMU without
    states), or if an FMU fails. The result is also None if the ratio does not decrease with the
    step, which indicates an algebraic loop.
    """
    law = {k for k in group.parts if not network.parts[k].abilities.memory}
    if not len(group.feedback) or any(network.owner(int(row)) not in law for row in group.feedback):
        return None
    lengths = (h,) if network.needs_equal_steps else (h, GOLDEN * h)
    try:
        gains = [_response(network, group, present, length) for length in lengths]
        short = 0.0 if network.needs_equal_steps else _response(network, group, present, _SHORT * h)
    except PartFailed:
        return None
    if short > 0.1 * max(gains) > 0.0:
        return None
    return max(2.0 * float(np.sqrt(gain)) / length for gain, length in zip(gains, lengths, strict=True))


def _response(network: Network, group: CoupledGroup, present: Present, h: float) -> float:
    """Return the factor by which one step multiplies a small change of the forces between FMUs.

    The changed forces move the FMUs during a step of length h, s, and this motion changes the
    forces again.
    """
    stepper = Stepper(network, group, MEAN, 2, positions(network))
    saved: dict[int, Any] = {k: network.parts[k].save() for k in group.parts}
    zeros = np.zeros((network.n_u, 4))
    step = Step(present.t, h, polynomials.constant(present.values), zeros, saved, present.values.copy())
    step.predicted, step.slopes = step.courses.copy(), np.zeros_like(present.values)
    rows = indices(network.rows, group.parts)
    scale = np.ones(len(present.values))
    scale[rows] = np.maximum(np.abs(present.values[rows]), 1.0)
    try:
        gain = stepper.response(present, step, scale)
    finally:
        for k, state in saved.items():
            network.parts[k].restore(state)
            network.parts[k].free(state)
    return float(np.max(np.abs(np.linalg.eigvals(gain)), initial=0.0))
