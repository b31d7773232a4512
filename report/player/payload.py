"""Scene as JSON for the player.

Numbers that change over time are stored as 32-bit floats in base64.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ...analysis import ForceArrow
from ...core.trajectory import Array
from ...mechanism import GROUND, JointFrame, Place
from ...scene import Aid, Bar, RecordedMotion, Scene, Solid, reach_of
from ..plots.space import viewpoint


def payload(scene: Scene, aids: Sequence[Aid] = ()) -> dict[str, Any]:
    """Return a scene as JSON-ready data.

    Positions are relative to the scene's centre, so that the rounding errors of 32-bit floats
    remain small. The argument `aids` contains additional symbols to show, such as frames.
    """
    mechanism, reach = scene.mechanism, reach_of(scene)
    low, high = reach.min(axis=0), reach.max(axis=0)
    centre = (low + high) / 2
    azimuth, vertical = viewpoint(reach[:: max(len(reach) // 2000, 1)], np.asarray(mechanism.gravity))
    return {
        "time": {"begin": float(scene.time[0]), "end": float(scene.time[-1]), "count": len(scene.time)},
        "centre": _numbers(centre),
        "half": _numbers((high - low) / 2),
        "extent": scene.extent,
        "vertical": vertical,
        "azimuth": azimuth,
        "scales": list(scene.scales),
        "cyclic": scene.cyclic,
        "motions": [_motion(motion, centre) for motion in scene.motions],
        "shapes": [_shape(shape) for shape in scene.shapes],
        "bars": [_bar(bar, centre) for bar in scene.bars],
        "marks": [
            _mark(mark, scene.acting[:, k] / scene.peak(mark.kind == "moment"), centre)
            for k, mark in enumerate(scene.marks)
        ],
        "peaks": {"force": scene.peak(False), "moment": scene.peak(True)},
        "axes": [_frame(frame, centre) for frame in mechanism.frames.values() if frame.place.body != GROUND],
        "aids": [{"kind": aid.kind, "name": aid.name} | _frame(aid.frame, centre) for aid in aids],
        "points": [{"name": name, **_place(place, centre)} for name, place in mechanism.points.items()],
    }


def _motion(motion: RecordedMotion, centre: Array) -> dict[str, Any]:
    frames = poses(motion.frames, centre)
    return {"name": motion.name, "count": motion.count, "bodies": frames.shape[2], "data": packed(frames)}


def poses(frames: Array, centre: Array) -> Array:
    """Return the position and the orientation of each body, shape (…, bodies, 7).

    The first three numbers are the position relative to `centre`, m. The last four numbers are the
    unit quaternion x, y, z, w. The argument `frames` contains the frames of the ground and of all
    bodies, shape (…, 1 + bodies, 4, 4).
    """
    own = frames[..., 1:, :, :]
    turned = Rotation.from_matrix(own[..., :3, :3].reshape(-1, 3, 3)).as_quat()
    return np.concatenate([own[..., :3, 3] - centre, turned.reshape(*own.shape[:-2], 4)], axis=-1)


def _shape(shape: Solid) -> dict[str, Any]:
    mesh = shape.mesh
    return {
        "body": shape.body,
        "kind": shape.kind,
        "size": _numbers(shape.size),
        "position": _numbers(shape.frame[:3, 3]),
        "quaternion": _numbers(Rotation.from_matrix(shape.frame[:3, :3]).as_quat()),
        "colour": shape.colour,
        "vertices": "" if mesh is None else packed(mesh.vertices),
        "faces": "" if mesh is None else base64.b64encode(mesh.faces.astype("<u4").tobytes()).decode(),
    }


def _frame(frame: JointFrame, centre: Array) -> dict[str, Any]:
    turned = Rotation.from_matrix(np.asarray(frame.rotation, dtype=float))
    return _place(frame.place, centre) | {"quaternion": _numbers(turned.as_quat())}


def _bar(bar: Bar, centre: Array) -> dict[str, Any]:
    return {"kind": bar.kind, "a": _place(bar.a, centre), "b": _place(bar.b, centre)}


def _mark(mark: ForceArrow, shares: Array, centre: Array) -> dict[str, Any]:
    return {
        "name": mark.name,
        "kind": mark.kind,
        "a": _place(mark.a, centre),
        "b": None if mark.b is None else _place(mark.b, centre),
        "axis": mark.axis,
        "forces": packed(shares),
    }


def _place(place: Place, centre: Array) -> dict[str, Any]:
    at = np.asarray(place.position, dtype=float)
    return {"body": place.body, "at": _numbers(at - centre if place.body == GROUND else at)}


def _numbers(values: Array) -> list[float]:
    return [float(f"{value:.9g}") for value in np.ravel(values)]


def packed(values: Array) -> str:
    """Return an array of numbers as 32-bit floats in base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")
