"""Primitives of pictures in space, and the drawings that consist of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_examples import EXAMPLES
from matplotlib.figure import Figure

import gpmelica as gp
from gpmelica import scene
from gpmelica.report.plots.primitives import Arrow, PointSymbols, Polygons, Polyline, render_in, triad
from gpmelica.report.plots.solids import primitives, stage
from gpmelica.report.plots.space import axes_in_space

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
EACH = [
    Polyline(SQUARE, "#102030", 2.0, 3, marker="o", dashes=(1.0, 1.0)),
    PointSymbols(SQUARE, "D", "white", "black", 5.0, 4),
    Polygons(SQUARE[None], {"facecolor": "grey"}),
    Arrow(SQUARE[0], SQUARE[2], "red", 1.0, 5),
]


def _axes() -> Any:
    figure = Figure()
    return axes_in_space(figure, figure.add_gridspec(1, 1)[0])


def test_drawings_can_be_removed() -> None:
    """A film removes the drawing of an instant before it draws the next one."""
    axes = _axes()
    before = set(axes.get_children())
    artists = render_in(axes, EACH)
    assert set(axes.get_children()) - before == set(artists) and len(artists) == len(EACH)
    line, symbols = artists[:2]
    assert pytest.approx(SQUARE) == np.array(line.get_data_3d()).T  # type: ignore[attr-defined]
    assert (line.get_linewidth(), line.get_zorder(), symbols.get_marker()) == (2.0, 3, "D")  # type: ignore[attr-defined]
    for artist in artists:
        artist.remove()
    assert set(axes.get_children()) == before


def test_a_triad_is_the_columns_of_a_rotation() -> None:
    turned = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    ends = [axis.points[1] - axis.points[0] for axis in triad(np.ones(3), turned, 0.5)]
    assert np.column_stack(ends) == pytest.approx(0.5 * turned)


def test_only_primitives_are_drawn() -> None:
    with pytest.raises(TypeError, match="expected a graphic primitive, such as Polyline, got str"):
        render_in(_axes(), ["line"])  # type: ignore[list-item]


def test_a_scene_is_a_list_of_primitives() -> None:
    """Arrows are the forces, relative to the largest one; everything is in the picture."""
    model = gp.load(EXAMPLES / "crane.toml", "rigid_boom")
    found = scene.still(model.prepared.problem)
    listed = list(primitives(found, 0))
    assert {type(primitive) for primitive in listed} == {Polygons, Polyline, PointSymbols, Arrow}
    lengths = [np.linalg.norm(p.vector) for p in listed if isinstance(p, Arrow)]
    assert max(lengths) == pytest.approx(0.24 * found.extent, rel=1e-9)
    _, axes = stage(found)
    assert len(render_in(axes, listed)) == len(listed)
