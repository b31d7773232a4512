"""A machine that swings in its modes: where it is at each part of the cycle, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers_backends import CompileData, example_model
from helpers_linear import hanging, point
from helpers_reference import mechanism_of

from gpmelica import scene
from gpmelica.errors import DescriptionError
from gpmelica.generator.mechanism import Place
from gpmelica.linear import Modes, linearized
from gpmelica.reference import Model

SHAPE = np.array([0.1 - 0.05j, 0.2j, 0.02, 0.0])  # upper, lower, slide, free


def test_a_complex_shape_is_a_motion_with_phases() -> None:
    """q + Re(shape exp(iφ)), scaled: the lower rod's tip as of sines and cosines; a cycle ends where it began."""
    mechanism, pose = mechanism_of(hanging()), np.array([1.0, 0.2, 0.0, 0.0])
    found = scene.swinging(mechanism, pose, [scene.Swing("1", SHAPE)])
    swing, rest = found.motions
    assert found.cyclic and (found.time[0], found.time[-1]) == (0.0, 1.0)
    for scale, frames in zip(found.scales, swing.frames, strict=True):
        tip = scene.in_world(frames, mechanism.points["E"])
        for cycle, at in zip(found.time, tip, strict=True):
            q = pose + scale * (SHAPE * np.exp(2j * np.pi * cycle)).real
            upper, lower = q[0], q[0] + q[1]
            expected = [np.cos(upper) + np.cos(lower), 0.0, -np.sin(upper) - np.sin(lower)]
            assert at == pytest.approx(expected, abs=1e-12)
        assert frames[-1] == pytest.approx(frames[0], abs=1e-12)
    assert np.ptp(rest.frames, axis=(0, 1)).max() == 0.0
    assert not found.acting.any()


def test_loops_stay_closed() -> None:
    """The four bar's pin, at every part of a large swing; a small one is the shape itself."""
    model = example_model("four_bar_3d", None)
    mechanism, pose = model.mechanism, model.start[0]
    numbers = Model(mechanism)
    by_rows = np.linalg.svd(numbers.constraints(numbers.state(0.0, *model.start)).C)[2][-1]
    for amplitude, tolerance in ((0.3, None), (1e-4, 1e-6)):
        found = scene.swinging(mechanism, pose, [scene.Swing("1", amplitude * by_rows.astype(complex))])
        (pin,), frames = mechanism.closures, found.motions[0].frames
        a, b = (scene.in_world(frames, frame.place) for frame in (pin.a, pin.b))
        assert np.abs(a - b).max() < 1e-9
        if tolerance:
            open_frames = scene.frames_of(mechanism, pose + amplitude * by_rows)
            for body in range(len(mechanism.bodies)):
                place = Place(body, np.array([1.0, 0.0, 0.0]))
                wanted = scene.in_world(open_frames, place)
                assert scene.in_world(frames[0, 0], place) == pytest.approx(wanted, abs=tolerance)


def test_swings_are_seen(compile_data: CompileData, tmp_path: Path) -> None:
    """By themselves 8 % of the machine or half a radian; else as asked for, of the coordinate that moves most."""
    compiled = compile_data(hanging())
    mechanism = compiled.model.mechanism
    modes = Modes(linearized(compiled.model, compiled.fmu, point(compiled.model)), compiled.model)
    size = scene.extent(mechanism, modes.linear.q)
    for mode in modes:
        shape = np.array(list(mode.shape.values()))
        factor = scene.seen_well(mechanism, modes.linear.q, shape)
        frames = scene.swinging(mechanism, modes.linear.q, [scene.Swing("", factor * shape)]).motions[0].frames[0]
        ends = [Place(b, at) for b, own in enumerate(scene.held_at(mechanism)) for at in (np.zeros(3), *own)]
        paths = [scene.in_world(frames, end) for end in ends]
        # a real shape is in its pose after a quarter of the cycle
        moved = max(np.linalg.norm(path - path[len(path) // 4], axis=1).max() for path in paths)
        assert moved == pytest.approx(0.08 * size, rel=0.05)
    assert len(modes) == len(modes.linear.modes()) and modes[3:5] == modes.linear.modes()[3:5]
    for wrong, options, text in (
        ([9], {}, r"there are \d, numbered from 1; got 10"),
        ([], {}, "expected one, got none"),
        (0, {"amplitude": np.inf}, "greater than 0 and at most 1e\\+06, got inf"),
    ):
        with pytest.raises(DescriptionError, match=text):
            modes.animate(tmp_path / "a.html", wrong, **options)
    with pytest.raises(DescriptionError, match="a film shows one mode"):
        modes.animate(tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []
