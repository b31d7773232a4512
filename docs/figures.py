"""Drawings for the documentation: `python docs/figures.py` writes four files into `docs/pictures`."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Polygon, Rectangle

FOLDER = Path(__file__).with_name("pictures")
INK, GREY, BLUE, RED, GREEN = "#1f2733", "#9aa2ad", "#0072b2", "#c0392b", "#1e8449"
STYLE = {"svg.hashsalt": "gpmelica", "svg.fonttype": "path", "font.family": "sans-serif", "font.size": 12}
Point = tuple[float, float]


def draw_frame() -> None:
    """Draw a joint between two links.

    The picture shows the parent's frame, the constant transformation to the joint, and the link's
    rotated frame.
    """
    figure, axes = _sheet(7.5, 3.6)
    parent, joint = (0.6, 0.6), (4.0, 1.7)
    _axes_of(axes, parent, 0.0, "parent frame")
    _arrow(axes, parent, joint, GREY)
    axes.text(2.3, 1.85, "$X_b$: key frame (constant)", color=GREY, ha="center")
    _axes_of(axes, joint, 0.25, "", faint=True)
    _axes_of(axes, joint, 0.75, "")
    angles = np.linspace(0.25, 0.75, 30)
    axes.plot(joint[0] + 0.75 * np.cos(angles), joint[1] + 0.75 * np.sin(angles), color=BLUE)
    axes.text(joint[0] + 0.82, joint[1] + 0.42, "$J_b(q_b)$: the joint's angle", color=BLUE)
    axes.text(joint[0] + 0.15, joint[1] - 0.35, "link frame: origin at its joint", color=INK)
    _save(figure, axes, "frame", (0.0, 7.5), (0.1, 3.3))


def draw_beam() -> None:
    """Draw a beam as four rigid elements with spring-dampers between the elements.

    The first and the last element are half as long as the others.
    """
    figure, axes = _sheet(7.5, 2.6)
    length, count = 6.0, 4
    spacing = length / (count - 1)
    ends = [0.0, *(spacing * (k + 0.5) for k in range(count - 1)), length]
    gap = 0.12
    for k, (begin, end) in enumerate(pairwise(ends)):
        left, right = begin + (gap if k else 0.0), end - (gap if k < count - 1 else 0.0)
        axes.add_patch(Rectangle((left, 0.0), right - left, 0.5, facecolor="#dfe8f1", edgecolor=INK))
        axes.text((left + right) / 2, 0.25, f"r{k}", ha="center", va="center")
    for place in ends[1:-1]:
        x = np.linspace(place - gap, place + gap, 60)
        axes.plot(x, 0.25 + 0.12 * np.sin(np.linspace(0.0, 6 * np.pi, 60)), color=RED)
    axes.text(ends[1], 0.68, "spring-damper: ψ, θ, φ", color=RED, ha="center")
    for begin, end, label in ((ends[0], ends[1], "Δ/2"), (ends[1], ends[2], "Δ"), (0.0, length, "L")):
        height = -0.25 if label != "L" else -0.75
        _measure(axes, begin, end, height, label)
    _save(figure, axes, "beam", (-0.4, 6.6), (-1.15, 1.05))


def draw_contact() -> None:
    """Draw a contact: a point of a link below a plane, the penetration depth, and the forces."""
    figure, axes = _sheet(6.0, 3.4)
    axes.plot([0.2, 5.6], [1.0, 1.0], color=INK, lw=1.8)
    for x in np.arange(0.3, 5.6, 0.25):
        axes.plot([x, x - 0.15], [1.0, 0.82], color=GREY, lw=0.8)
    body = np.array([[1.6, 2.6], [2.4, 0.7], [3.9, 1.7], [3.5, 2.9]])
    axes.add_patch(Polygon(body, closed=True, facecolor="#dfe8f1", edgecolor=INK, alpha=0.85))
    axes.text(2.9, 2.1, "link", ha="center")
    point = (2.4, 0.7)
    axes.plot(*point, marker="o", color=INK)
    _arrow(axes, point, (2.4, 2.25), RED)
    axes.text(1.6, 1.75, r"$N = k\delta + d\,\dot\delta \geq 0$", color=RED, ha="right")
    _arrow(axes, point, (1.4, 0.7), BLUE)
    axes.text(1.35, 0.45, r"$\mu N\,\tanh(v/v_s)$", color=BLUE, ha="right")
    axes.annotate("", (4.6, 0.7), (4.6, 1.0), arrowprops={"arrowstyle": "<->", "color": INK})
    axes.plot([2.4, 4.7], [0.7, 0.7], color=GREY, lw=0.8, ls="--")
    axes.text(4.7, 0.42, "depth δ = −gap")
    _arrow(axes, (5.2, 1.0), (5.2, 1.7), GREEN)
    axes.text(5.1, 1.8, "normal", color=GREEN, ha="center")
    _save(figure, axes, "contact", (-1.4, 6.2), (0.2, 3.1))


def draw_pipeline() -> None:
    """Draw the steps by which gpmelica processes a description, up to the verdict on a run."""
    figure, axes = _sheet(9.0, 3.6)
    boxes = {
        "description\nTOML": (0.0, 1.5),
        "mechanism\nbodies, coordinates": (2.1, 1.5),
        "generator\nequations": (4.3, 2.6),
        "reference solver\nPython": (4.3, 1.5),
        "Modelica": (6.4, 3.1),
        "C code, FMU": (6.4, 2.1),
        "oracle\nsecond derivation": (4.3, 0.3),
        "comparison\nverdict, report": (8.5, 1.5),
    }
    for text, (x, y) in boxes.items():
        width = 1.75
        axes.add_patch(
            FancyBboxPatch(
                (x, y - 0.32), width, 0.64, boxstyle="round,pad=0.03", facecolor="#eef3f8", edgecolor=INK
            )
        )
        axes.text(x + width / 2, y, text, ha="center", va="center", fontsize=8)
    ways = (
        ((1.75, 1.5), (2.1, 1.5)),
        ((3.85, 1.6), (4.3, 2.5)),
        ((3.85, 1.5), (4.3, 1.5)),
        ((0.9, 1.18), (4.3, 0.35)),
        ((6.05, 2.7), (6.4, 3.0)),
        ((6.05, 2.55), (6.4, 2.2)),
        ((8.15, 3.0), (9.2, 1.85)),
        ((8.15, 2.1), (8.9, 1.85)),
        ((6.05, 1.5), (8.5, 1.5)),
        ((6.05, 0.35), (9.0, 1.15)),
    )
    for begin, end in ways:
        _arrow(axes, begin, end, GREY)
    _save(figure, axes, "pipeline", (-0.1, 10.4), (-0.15, 3.55))


def _sheet(width: float, height: float) -> tuple[Figure, Axes]:
    figure, axes = pyplot.subplots(figsize=(width, height))
    axes.set_aspect("equal")
    axes.set_axis_off()
    return figure, axes


def _arrow(axes: Axes, begin: Point, end: Point, colour: str) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "lw": 1.6, "shrinkA": 0, "shrinkB": 2}
    axes.annotate("", end, begin, arrowprops=style)


def _axes_of(axes: Axes, origin: Point, angle: float, label: str, faint: bool = False) -> None:
    for k, (name, colour) in enumerate((("x", RED), ("y", GREEN))):
        turn = angle + k * np.pi / 2
        end = (origin[0] + np.cos(turn), origin[1] + np.sin(turn))
        _arrow(axes, origin, end, GREY if faint else colour)
        if not faint:
            place = (origin[0] + 1.12 * np.cos(turn), origin[1] + 1.12 * np.sin(turn))
            axes.text(*place, name, color=colour, va="center")
    axes.text(origin[0], origin[1] - 0.35, label, ha="left")


def _measure(axes: Axes, begin: float, end: float, height: float, label: str) -> None:
    axes.annotate("", (end, height), (begin, height), arrowprops={"arrowstyle": "<->", "color": INK})
    axes.text((begin + end) / 2, height - 0.08, label, ha="center", va="top")


def _save(figure: Figure, axes: Axes, name: str, across: Point, up: Point) -> None:
    axes.set_xlim(*across)
    axes.set_ylim(*up)
    figure.savefig(FOLDER / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)


if __name__ == "__main__":
    with mpl.rc_context(STYLE):
        for draw in (draw_frame, draw_beam, draw_contact, draw_pipeline):
            draw()
