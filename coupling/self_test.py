"""Tests of the capabilities, the accuracy and the equilibrium of each FMU at the initial time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from ..core.trajectory import Array
from . import courses as polynomials
from .claims import wrong_claims
from .master import Settings
from .network import Network
from .participant import PartFailed, Participant
from .ports import is_force, is_motion
from .stepping import Present, held
from .system import CouplingRemark

_SAME = 1e-9  # Two outputs count as equal if their relative difference is at most this value.
# An output depends on an input if the output changes by more than this number of units in the last place.
_NOTICED = 64.0
# In one test, an FMU moves under constant forces for this number of steps.
_PROBES = 100
# A motion is bounded if the second half of a test increases the largest displacement by at most this factor.
_FURTHER = 1.5
# The step of a test is halved at most this number of times until the FMU accepts the step.
_MOST_HALVINGS = 10
# An FMU is at rest if its displacement without forces is below this fraction of its displacement with forces.
_AT_REST = 1e-5


def tested(
    network: Network, k: int, part: Participant, present: Present, settings: Settings
) -> Iterator[CouplingRemark]:
    """Test the capabilities that an FMU declares, correct wrong declarations, and yield remarks."""
    given = network.inputs_at(present.values)[network.columns[k]]
    sampled = part.abilities.period is not None
    h = settings.nominal if sampled else _passed_length(part, present.t, settings.nominal, given)
    # If an FMU fails in one test, the tests of its other capabilities are skipped.
    with suppress(PartFailed):
        for claim, why in _wrong(part, present.t, h, given):
            part.abilities = part.abilities.corrected(claim, why)
    yield from wrong_claims(part)
    able = part.abilities
    if not able.takes_courses and "takes_courses" not in able.wrong and able.memory and len(part.inputs):
        text = (
            f"{part.name} accepts no slopes of inputs, so each input is constant in a step, at its mean (order 2)"
        )
        yield CouplingRemark("takes_no_slopes", part.name, text)
    yield from _coarse(part, settings)
    # The equilibrium test requires an FMU that has states, can repeat steps, and accepts different step lengths.
    if able.restores and able.memory and able.varies:
        # The equilibrium test removes the forces at the connections, and some FMUs fail without these forces.
        with suppress(PartFailed):
            yield from _own_equilibrium(network, k, present, h, settings.stop - settings.start)


def _wrong(part: Participant, t: float, h: float, given: Array) -> Iterator[tuple[str, str]]:
    """Yield each capability that an FMU declares but does not have according to a test, with the reason.

    The caller removes the capability before the next test. The declaration that an FMU has no
    states is also tested.
    """
    if part.abilities.period is not None:
        return
    if part.abilities.restores and (why := _restores_wrongly(part, t, h, given)):
        yield "restores", why
    if not part.abilities.memory and len(given) and _remembers(part, t, h, given):
        yield "memory", "its outputs depend on earlier inputs"
    if part.abilities.takes_courses and len(given) and _ignores_slopes(part, t, h, given):
        yield "takes_courses", "ignores their slopes"


def _coarse(part: Participant, settings: Settings) -> Iterator[CouplingRemark]:
    step, tolerance, h = part.abilities.step, part.abilities.tolerance, settings.nominal
    if step is not None and step > 0.1 * h:
        text = (
            f"{part.name} integrates with a fixed step of {step:g} s; shorter communication steps than {h:g} s do"
            " not reduce its integration error, which the verdict does not contain; shorten the step in the FMU"
        )
        yield CouplingRemark("coarse_step", part.name, text)
    if tolerance is not None and tolerance > 0.1 * settings.tolerance:
        text = (
            f"{part.name} integrates with a tolerance of {tolerance:g}, and the coupling is asked for"
            f" {settings.tolerance:g}; the verdict does not contain its integration error; export the FMU with a"
            f" tolerance of at most {0.1 * settings.tolerance:g}"
        )
        yield CouplingRemark("coarse_tolerance", part.name, text)


def _own_equilibrium(
    network: Network, k: int, present: Present, h: float, span: float
) -> Iterator[CouplingRemark]:
    """Yield a remark if an FMU starts in its own equilibrium instead of the equilibrium of the system.

    Such an FMU would remain at rest if no forces acted at its connections. An FMU without a stable
    equilibrium, such as a free mass, gets no remark.
    """
    part, given = network.parts[k], network.inputs_at(present.values)[network.columns[k]]
    forces = [j for j, signal in enumerate(part.inputs) if is_force(signal) and given[j] != 0.0]
    motion = [j for j, signal in enumerate(part.outputs) if is_motion(signal)]
    if not forces or not motion:
        return
    free = given.copy()
    free[forces] = 0.0
    begin = part.outputs_now()
    alone, coupled = (
        float(np.max(np.abs(_stepped(part, present.t, h, given, polynomials.constant(u)) - begin)[motion]))
        for u in (free, given)
    )
    if alone <= _AT_REST * coupled and _resists(part, present.t, span, given, motion):
        largest = max(forces, key=lambda j: abs(given[j]))
        text = (
            f"{part.name} starts in its own equilibrium, without the forces of the connections, but"
            f" {part.inputs[largest].name} = {given[largest]:.3g} {part.inputs[largest].unit} acts on it at the"
            " start; if the system starts at rest, give this FMU its state in the equilibrium of the system"
        )
        yield CouplingRemark("own_equilibrium", part.name, text)


def _resists(part: Participant, t: float, span: float, given: Array, motion: list[int]) -> bool:
    """Return whether the motion of an FMU under constant inputs is bounded.

    The motion counts as bounded if the second half of the run hardly increases the largest
    displacement.
    """
    begin, h, course = part.outputs_now(), span / _PROBES, held(polynomials.constant(given), part.abilities)
    moved, state = [], part.save()
    try:
        for number in range(_PROBES):
            part.advance(t + number * h, h, course)
            moved.append(np.abs(part.outputs_now() - begin)[motion])
    except PartFailed:
        return False
    finally:
        part.restore(state)
        part.free(state)
    half, whole = (np.max(moved[:count], axis=0) for count in (_PROBES // 2, _PROBES))
    return bool(np.all(whole <= _FURTHER * half + _AT_REST * np.max(whole)))


def _stepped(part: Participant, t: float, h: float, given: Array, *courses: Array) -> Array:
    """Return the outputs of an FMU after one or more successive steps of length h, s, from time t.

    Each element of `courses` contains the polynomials of all inputs over one step. Afterwards, the
    FMU returns to its state before the steps. An FMU that cannot restore its state is started again
    at time t, with the input values `given`.
    """
    state = part.save() if part.abilities.restores else None
    try:
        for number, course in enumerate(courses):
            _, event = part.advance(t + number * h, h, held(course, part.abilities))
            if event or part.ended:
                break
        return part.outputs_now()
    finally:
        if part.abilities.restores:
            part.restore(state)
            part.free(state)
        else:
            part.start(t, given)
            part.begin()


def _passed_length(part: Participant, t: float, h: float, given: Array) -> float:
    """Return the longest of the steps h, h/2, h/4 …, in s, with which the FMU can make two successive steps.

    The result is h if the FMU fails with all these steps, or if it supports only equal steps.
    """
    if not part.abilities.varies:
        return h
    course, length = polynomials.constant(given), h
    for _ in range(_MOST_HALVINGS):
        try:
            _stepped(part, t, length, given, course, course)
        except PartFailed:
            length *= 0.5
        else:
            return length
    return h


def _restores_wrongly(part: Participant, t: float, h: float, given: Array) -> str:
    """Return the reason why an FMU does not restore a saved state correctly, or an empty text.

    The test makes two steps from a saved state, a step with other inputs, and the two steps again
    from the same state. The repetition must give the same outputs. The outputs after the state is
    restored must equal the outputs before the steps.
    """
    course, begin = polynomials.constant(given), part.outputs_now()
    first = _stepped(part, t, h, given, course, course)
    # An FMU may fail in a test step, because the test changes the FMU's inputs.
    with suppress(PartFailed):
        _stepped(part, t, h, given, polynomials.constant(_higher(given)))
    try:
        second = _stepped(part, t, h, given, course, course)
    except PartFailed as error:
        return f"fails in a repeated step: {error}"
    if not _same(first, second):
        return (
            f"two steps of {h:g} s, repeated from one state, differ by {float(np.max(np.abs(first - second))):.3g}"
        )
    return "" if _same(begin, part.outputs_now()) else "its outputs differ after its state is restored"


def _higher(given: Array) -> Array:
    """Return inputs that are slightly larger than the given inputs.

    The increments differ between inputs, so that differences of two inputs also change.
    """
    return np.asarray(given + np.maximum(1e-3 * np.abs(given), 1e-3) * np.arange(1, len(given) + 1))


def _remembers(part: Participant, t: float, h: float, given: Array) -> bool:
    """Return whether inputs in the first of two steps influence the outputs after the second step."""
    steady, higher = polynomials.constant(given), polynomials.constant(_higher(given))
    return not _same(*(_stepped(part, t, h, given, first, higher) for first in (steady, higher)))


def _ignores_slopes(part: Participant, t: float, h: float, given: Array) -> bool:
    """Return whether an FMU uses the values of its inputs, but not the slopes.

    The second step of a run is tested, because some FMUs use input slopes only in the first step.
    """
    level = polynomials.constant(given)
    steady, higher, rising = (
        _stepped(part, t, h, given, level, course)
        for course in (level, polynomials.constant(_higher(given)), polynomials.linear(given, _higher(given)))
    )
    noticed = np.abs(higher - steady) > _NOTICED * np.spacing(np.abs(steady))
    return bool(np.array_equal(steady, rising) and noticed.any())


def _same(a: Array, b: Array) -> bool:
    return bool(np.all(np.abs(a - b) <= _SAME * np.maximum(np.abs(a), 1e-9)))
