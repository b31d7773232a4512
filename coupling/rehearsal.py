"""Tests of coupled parts at the start of a run, and choice of the coupling method of each group of parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.errors import GpmelicaError, SolveError
from ..core.trajectory import Array
from . import courses as polynomials
from .master import Master, Settings
from .network import CoupledGroup, Network
from .participant import Participant
from .ports import positions
from .stepping import (
    HERMITE,
    MEAN,
    PIN,
    SEQUENTIAL,
    Present,
    Step,
    Stepper,
    connection_of,
    gains_of,
    held,
    indices,
)
from .system import CouplingRemark

_SAME = 1e-9  # largest relative difference of outputs that count as equal
_FAST = 2.0  # angular frequency of a connection times the step, above which its vibration is not resolved


@dataclass(frozen=True)
class MethodChoice:
    """Coupling method of a group of parts, with its order and a sentence that gives the reason for the choice."""

    method: str
    order: int
    reason: str


def rehearse(
    network: Network, settings: Settings, method: str | None = None, order: int | None = None
) -> tuple[list[MethodChoice], list[CouplingRemark]]:
    """Test the coupled parts at the start and choose a coupling method for each group of parts.

    The tests advance the parts, so all parts must be started again before the run.

    Parameters
    ----------
    network : parts and their connections
    settings : time span, tolerance and step of the run
    method : coupling method chosen by the user, or None or `auto` for a choice per group
    order : degree of extrapolation chosen by the user, or None

    Returns
    -------
    choices : one choice per group, in the order of the groups
    remarks : facts about the parts and their coupling that the user should know

    Raises
    ------
    SolveError : if no method that the parts support keeps a loop of connections stable
    """
    present = Master(network, [], settings).initial()
    remarks: list[CouplingRemark] = []
    for k, part in enumerate(network.parts):
        remarks += _tested(network, k, part, present, settings.nominal)
    choices = []
    for group in network.groups:
        choice, more = _chosen(network, group, settings, present, method, order)
        choices.append(choice)
        remarks += more
    return choices, remarks


# ---- Tests of parts ------------------------------------------------------------------------------------------


def _tested(network: Network, k: int, part: Participant, present: Present, h: float) -> Iterator[CouplingRemark]:
    """Test one part and yield remarks; mark each capability that fails its test as unavailable."""
    given = network.inputs_at(present.values)[network.columns[k]]
    if part.abilities.restores and part.abilities.period is None:
        try:
            wrong = _restores_wrongly(part, present.t, h, given)
        except GpmelicaError as error:
            wrong = str(error)
        if wrong:
            part.abilities = replace(part.abilities, restores=False)
            text = f"{part.name} claims to save and restore its state, but {wrong}; the feature is not used"
            yield CouplingRemark("restores_wrongly", part.name, text)
    if (
        not part.abilities.memory
        and part.abilities.restores
        and len(given)
        and _remembers(part, present.t, h, given)
    ):
        part.abilities = replace(part.abilities, memory=True)
        text = f"{part.name} lists no states, but its outputs depend on earlier inputs; states are assumed"
        yield CouplingRemark("lists_no_states", part.name, text)
    continuous = part.abilities.restores and part.abilities.period is None
    if continuous and part.abilities.takes_courses and len(given):
        if _ignores_slopes(part, present.t, h, given):
            part.abilities = replace(part.abilities, takes_courses=False)
            values = "means" if part.abilities.memory else "values at the end of each step"
            text = f"{part.name} claims to interpolate its inputs, but ignores their slopes; it gets their"
            text += f" {values}"
            yield CouplingRemark("ignores_slopes", part.name, text)
    elif not part.abilities.takes_courses and part.abilities.memory and len(part.inputs):
        text = (
            f"{part.name} accepts no slopes of inputs, so each input is constant in a step, at its mean (order 2)"
        )
        yield CouplingRemark("takes_no_slopes", part.name, text)
    if part.abilities.step is not None and part.abilities.step > 0.1 * h:
        text = (
            f"{part.name} integrates with a fixed step of {part.abilities.step:g} s; shorter communication steps"
            f" than {h:g} s do not reduce its integration error"
        )
        yield CouplingRemark("coarse_step", part.name, text)


def _stepped(part: Participant, t: float, h: float, courses: Array) -> Array:
    state = part.save()
    try:
        part.advance(t, h, held(courses, part.abilities))
        return part.outputs_now()
    finally:
        part.restore(state)
        part.free(state)


def _restores_wrongly(part: Participant, t: float, h: float, given: Array) -> str:
    """Return an error of an FMU in saving and restoring its state, or an empty text if there is none.

    Two steps from the same saved state must give the same outputs, and restoring the state must
    give the outputs before the steps.
    """
    course = polynomials.constant(given)
    begin = part.outputs_now()
    first, second = _stepped(part, t, h, course), _stepped(part, t, h, course)
    if not _same(first, second):
        return f"two steps of {h:g} s from one state differ by {float(np.max(np.abs(first - second))):.3g}"
    return "" if _same(begin, part.outputs_now()) else "its outputs differ after its state is restored"


def _remembers(part: Participant, t: float, h: float, given: Array) -> bool:
    """Whether the outputs of a part after two steps depend on the inputs during the first step."""
    higher = _higher(given)
    outputs = []
    for first in (given, higher):
        state = part.save()
        try:
            for number, inputs in enumerate((first, higher)):
                part.advance(t + number * h, h, held(polynomials.constant(inputs), part.abilities))
            outputs.append(part.outputs_now())
        finally:
            part.restore(state)
            part.free(state)
    return not _same(*outputs)


def _ignores_slopes(part: Participant, t: float, h: float, given: Array) -> bool:
    """Whether the outputs of a part after a step respond to the level of its inputs but not to their slopes."""
    steady = _stepped(part, t, h, polynomials.constant(given))
    rising = _stepped(part, t, h, polynomials.linear(given, _higher(given)))
    higher = _stepped(part, t, h, polynomials.constant(_higher(given)))
    return bool(np.array_equal(steady, rising) and not np.array_equal(steady, higher))


def _higher(given: Array) -> Array:
    """Return slightly larger inputs; each increase is different, so that differences of inputs change too."""
    return np.asarray(given + np.maximum(1e-3 * np.abs(given), 1e-3) * np.arange(1, len(given) + 1))


def _same(a: Array, b: Array) -> bool:
    return bool(np.all(np.abs(a - b) <= _SAME * np.maximum(np.abs(a), 1e-9)))


# ---- Choice of methods ---------------------------------------------------------------------------------------


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
            "no loop: the parts are advanced in turn",
        ), []
    stuck = [network.parts[k].name for k in group.parts if not network.parts[k].abilities.restores]
    wished = None if method == "auto" else method
    if len(group.pins) and wished in (None, PIN):
        if stuck:
            raise SolveError(
                f"coupling: a rigid pin needs FMUs that can restore their state; {', '.join(stuck)} cannot"
            )
        return MethodChoice(
            PIN, 4, f"{len(group.pins)} pairs of positions must agree: forces keep them together"
        ), []
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
            f"coupling: the method {MEAN} requires that parts are connected by springs and dampers in FMUs without"
            f" states; use --method {HERMITE}, or put the springs and dampers into a separate FMU"
        )
    if wished == MEAN or (wished is None and speed is not None and speed * settings.nominal > _FAST):
        return _mean(speed or 0.0, settings.nominal)
    more = [] if speed is None else [f", ωH = {speed * settings.nominal:.2g}"]
    return MethodChoice(HERMITE, 4, "a loop of parts that can restore their states" + "".join(more)), []


def _mean(speed: float, h: float) -> tuple[MethodChoice, list[CouplingRemark]]:
    text = (
        f"the frequency of the connection, {speed:.3g} rad/s, is too high for the communication step of {h:g} s"
        f" (ωH = {speed * h:.2g}): its vibration is not resolved, but its energy is conserved"
    )
    remarks = [CouplingRemark("connection_above_step", "group", text)] if speed * h > _FAST else []
    return MethodChoice(
        MEAN,
        2,
        f"a connection is too fast for the step, ωH = {speed * h:.2g}: constant mean force",
    ), remarks


def _sequential(
    network: Network, group: CoupledGroup, order: int | None, stuck: list[str], wished: bool
) -> tuple[MethodChoice, list[CouplingRemark]]:
    """Choose sequential steps, with the largest order of extrapolation that the gain of the loop allows.

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
        text = (
            f"the loop multiplies an error by {gain:.3g} in each step (with forces and motions as signals: the"
            f" apparent mass of the side that receives the motion, relative to that of the other side), and order"
            f" {wish} is stable below"
            f" {limits[min(wish, 2)]:.3g}; let the heavier side provide the motion, or use FMUs that can"
            " restore their states"
        )
        remarks.append(CouplingRemark("mass_ratio", "group", text))
        if most < 0 and not wished:
            raise SolveError(f"coupling: {text}")
    chosen = wish if order is not None or wished else min(wish, max(most, 0))
    reason = f"{names} cannot restore a state" if stuck else "chosen by the user"
    return MethodChoice(
        SEQUENTIAL, chosen, f"{reason}: sequential steps with extrapolation of order {chosen}"
    ), remarks


def _loop_gain(network: Network, group: CoupledGroup) -> float | None:
    """Return the factor by which one sequential step multiplies an error of the extrapolated inputs.

    Parts are advanced in a fixed order. A connection to a later part passes on its new output; only a
    connection to an earlier part uses an extrapolated value and carries an error to the next step.
    Returns None if a part does not provide the derivatives of its outputs by its inputs.
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
    """Return the largest angular frequency of the springs between the parts of a group, rad/s.

    The frequency follows from the response of the spring forces to a change of these forces. Returns
    None if the parts are not connected by force laws without states.
    """
    law = {k for k in group.parts if not network.parts[k].abilities.memory}
    if not len(group.feedback) or any(network.owner(int(row)) not in law for row in group.feedback):
        return None
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
    return 2.0 * float(np.sqrt(np.max(np.abs(np.linalg.eigvals(gain)), initial=0.0))) / h
