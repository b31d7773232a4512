"""Remarks on slack ropes and on lifted supports, at t = 0 and during a run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..analysis.system import System
from ..core.trajectory import Trajectory
from ..mechanism import BaseSupport, PlaneContact
from .initial_state import ElementForce, InitialState
from .places import member, support_key
from .remark import Remark

_ROUNDING = 1e-9  # An elongation or gap counts as zero up to this value, m.
_LOADED = 1e-6  # A support counts as unloaded if its force is at most this fraction of the largest support force.


def inactive_at_start(initial: InitialState) -> Iterator[Remark]:
    """Yield remarks on slack elastic ropes and lifted unilateral supports at t = 0."""
    for element in initial.forces:
        if element.stretch is None or element.stretch >= -_ROUNDING or element.force:
            continue
        if element.kind == "rope":
            yield _slack(element)
        elif element.kind == "support":
            yield _lifted(element)


def _slack(element: ElementForce) -> Remark:
    assert element.stretch is not None
    return Remark(
        "rope_slack",
        element.where,
        f"the rope is slack at t = 0, {-element.stretch:.3g} m shorter than its unstretched length",
        "change rest, or the positions of the rope's ends",
        element.stretch,
        "m",
        0.0,
        0.0,
    )


def _lifted(element: ElementForce) -> Remark:
    assert element.stretch is not None
    return Remark(
        "support_lifted",
        element.where,
        f"the support is {-element.stretch:.3g} m above the ground at t = 0 and carries no load",
        "the other supports carry the weight; check the support's position, masses and com",
        -element.stretch,
        "m",
        0.0,
        0.0,
    )


def inactive_in_run(model: System, run: Trajectory) -> Iterator[Remark]:
    """Yield remarks on outriggers that lift and ropes that become slack, with the time of the first event."""
    yield from _tipping(model, run)
    for line in model.mechanism.lines:
        tension = run.signals[line.signals["force"].signal.name]
        first = _first(run, f"line {line.name}", "is slack", "would push")
        if line.tension_only and not line.given and first is not None and np.ptp(tension) > 0.0:
            yield Remark(
                "rope_slack",
                member("lines", model.chain.lines, line.name),
                f"the rope becomes slack at t = {first:.4g} s",
                "is the load set down or supported otherwise, or is a drive too fast?",
                0.0,
                "N",
                0.0,
                first,
            )


def _tipping(model: System, run: Trajectory) -> Iterator[Remark]:
    outriggers = dict(_outriggers(model))
    forces = {key: run.signals[part.signals["force"].signal.name] for key, part in outriggers.items()}
    largest = max((float(values.max()) for values in forces.values()), default=0.0)
    for key, part in outriggers.items():
        kind = "support" if isinstance(part, BaseSupport) else "contact"
        first = _first(run, f"{kind} {part.name}", "lifts", "is clear")
        if first is None or forces[key].max() <= _LOADED * largest:
            continue
        gap = float(run.signals[part.signals["gap"].signal.name].max())
        others = [float(np.interp(first, run.time, values)) for name, values in forces.items() if name != key]
        rest = f"; smallest force of the other supports {min(others):,.0f} N" if others else ""
        yield Remark(
            "tips",
            key,
            f"{part.name} lifts at t = {first:.4g} s, up to {max(gap, 0.0):.3g} m{rest}",
            "is the load or reach too large for the supports, or a drive too fast?",
            max(gap, 0.0),
            "m",
            0.0,
            first,
        )


def _outriggers(model: System) -> Iterator[tuple[str, BaseSupport | PlaneContact]]:
    """Yield the supports of the base that can lift, with their description keys.

    A support can lift if it is unilateral. Contacts between the base and a plane below the base can
    also lift.
    """
    bodies = model.mechanism.bodies
    for index, support in enumerate(model.mechanism.supports):
        if support.one_sided:
            yield support_key(model.mechanism, index), support
    for contact in model.mechanism.contacts:
        if bodies[contact.place.body].name == "base" and contact.normal[2] > 0.0:
            yield member("contacts", model.chain.contacts, contact.name), contact


def _first(run: Trajectory, label: str, *words: str) -> float | None:
    return next((event.t for event in run.events if event.label == label and event.word in words), None)
