"""Data for the drawing on the preview page: scene of the mechanism, body frames in one pose, and forces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .. import analysis
from ..core.trajectory import Array
from ..plausibility import element_forces
from ..report.player import legend, packed, payload, poses
from ..scene import aids_of, frames_of, poses_of
from .dials import coordinate_dials, input_dials, parameter_dials
from .machine import PreviewMachine
from .posing import Pose, open_by

_UNITS = {"force": "N", "moment": "N.m"}


def scene_data(machine: PreviewMachine) -> dict[str, Any]:
    """Return the scene of a mechanism in its initial state, the legend and the sliders."""
    marks = machine.model({}).forces.marks
    scene = poses_of(machine.mechanism, machine.start[0][None], marks)
    return {
        "scene": payload(scene, aids_of(machine.mechanism)),
        "links": legend(scene),
        "coordinates": coordinate_dials(machine, scene.extent),
        "parameters": parameter_dials(machine.mechanism),
        "inputs": input_dials(machine, scene.extent),
    }


def pose_data(machine: PreviewMachine, pose: Pose, inputs: Mapping[str, float]) -> dict[str, Any]:
    """Return the body frames, the forces and the residual of the loop closures in one pose.

    Inputs of the FMU are constant.
    """
    mechanism = machine.mechanism
    model = machine.model(inputs)
    state = _state(machine, model, pose, inputs)
    acting = np.asarray(model.forces.acting(state), dtype=float)
    frames = poses(frames_of(mechanism, pose.q), np.zeros(3))
    return {
        "q": [float(x) for x in pose.q],
        "frames": packed(frames),
        "forces": packed(np.nan_to_num(acting)),
        "residual": open_by(mechanism, pose.q),
        "note": pose.note,
        "table": [*_table(model, state, acting)],
        "lengths": _lengths(model, state),
    }


def _state(
    machine: PreviewMachine, model: analysis.ReferenceModel, pose: Pose, inputs: Mapping[str, float]
) -> analysis.KinematicState:
    """Return the state of the mechanism in a pose.

    The initial pose has the initial rates. In all other poses, the mechanism is at rest. The
    outputs of the input filters equal the input values.
    """
    start, rates = machine.start
    lag = model.internal.start.copy()
    for k, (f, begin) in enumerate(zip(machine.mechanism.filters, model.filters.begins(start), strict=True)):
        lag[2 * k] = inputs.get(f.name, begin) - begin
    is_start = np.array_equal(pose.q, start) and not inputs
    return model.state(0.0, pose.q, rates if is_start else 0.0 * rates, lag=lag)


def _table(
    model: analysis.ReferenceModel, state: analysis.KinematicState, acting: Array
) -> Iterator[dict[str, Any]]:
    for e in element_forces(model, state):
        yield {"kind": e.kind, "name": e.name, "force": e.force + 0.0, "unit": "N"}
    for mark, force in zip(model.forces.marks, acting, strict=True):
        if mark.kind in _UNITS:
            size = float(np.linalg.norm(force))
            yield {"kind": mark.kind, "name": mark.name, "force": size, "unit": _UNITS[mark.kind]}


def _lengths(model: analysis.ReferenceModel, state: analysis.KinematicState) -> list[dict[str, Any]]:
    signals, mechanism = model.forces.signals(state), model.mechanism
    measured = [("length", line) for line in mechanism.lines] + [("gap", c) for c in mechanism.contacts]
    return [
        {"name": part.name, "what": what, "value": float(signals[part.signals[what].signal.name])}
        for what, part in measured
    ]
