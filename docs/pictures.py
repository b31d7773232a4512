"""Pictures of joints, frames and paths: `python docs/pictures.py` writes `docs/pictures/*.svg`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot
from matplotlib.lines import Line2D
from mpl_toolkits.mplot3d.axes3d import Axes3D
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from gpmelica.analysis import simulate
from gpmelica.analysis.system import assemble_system
from gpmelica.core.trajectory import Trajectory
from gpmelica.description.load import from_data
from gpmelica.description.tables.frame import angles_of
from gpmelica.description.types.joints import JOINT_TYPES
from gpmelica.report.plots import style, time_series
from gpmelica.report.plots.schematic import schematic
from gpmelica.scene import axes_in_world, frames_of, in_world

Array = NDArray[np.float64]
FOLDER = Path(__file__).with_name("pictures")
COLOURS = ("#c0392b", "#1e8449", "#1f618d")  # The x, y and z axes have these colours.
GREY, INK, BLUE = "#9aa2ad", "#1f2733", "#0072b2"
# A joint is drawn rotated by this angle, rad, or displaced by this fraction of the drawn axis length.
ANGLE, LENGTH = np.deg2rad(30.0), 0.55
STYLE = {"svg.hashsalt": "gpmelica", "font.family": "sans-serif", "font.size": 12, "text.color": INK}


def draw_joint(kind: str) -> None:
    """Draw the elementary motions of a joint type in sequence, with one panel for each motion."""
    motions = JOINT_TYPES[kind]
    columns = min(len(motions), 3)
    figure, panels = _panels(-(-len(motions) // columns), columns)
    rotation, origin = np.eye(3), np.zeros(3)
    for number, (axes, motion) in enumerate(zip(panels, motions, strict=True), start=1):
        axes.set_title(_caption(number, motion), fontsize=12, y=-0.02)
        _frame(axes, rotation, origin, [GREY] * 3)
        _motion(axes, motion, rotation, origin)
        turn, shift = _transform(motion)
        rotation, origin = rotation @ turn, origin + rotation @ shift
        _frame(axes, rotation, origin, COLOURS, "xyz")
        _look_at(axes, 0.75 * origin + 0.1, 0.85)
    _save(figure, f"joint_{kind}")


def draw_path() -> None:
    """Draw the world frame, the frame of a path, its waypoints, and the point that follows the
    path.
    """
    figure, (axes,) = _panels(1, 1, size=6.0)
    rotation, origin = Rotation.from_euler("zyx", [-0.3, -0.2, 0.0]).as_matrix(), np.array([0.3, 2.2, 0.9])
    waypoints = origin + np.array([[0.0, 0.0, 0.0], [0.0, 1.6, 0.0], [0.0, 1.6, 1.0]]) @ rotation.T
    _frame(axes, np.eye(3), np.zeros(3), [GREY] * 3, "xyz")
    axes.text(0.0, 0.1, -0.3, "world", ha="left", color=GREY)
    _arrow(axes, np.zeros(3), origin, GREY, 1.0, head=0.06)
    axes.text(0.0, 0.9, 0.62, "frame.xyz", color=GREY)
    _frame(axes, rotation, origin, COLOURS, "xyz")
    axes.text(*(origin + 1.4 * rotation[:, 2]), "frame of the path", ha="center")
    axes.plot(*waypoints.T, color=BLUE, lw=2.2, marker="o", ms=5)
    for number, (place, shift) in enumerate(zip(waypoints, ((0.1, 0.15), (-0.25, 0.0), (0.12, 0.0)), strict=True)):
        axes.text(*(place + rotation @ [0.0, shift[1], shift[0]]), f"waypoints[{number}]", color=BLUE)
    point = 0.45 * waypoints[1] + 0.55 * waypoints[2]
    axes.plot(*point, marker="o", ms=8, color=INK)
    axes.text(*(point + rotation @ [0.0, 0.14, 0.0]), "E", weight="bold")
    _look_at(axes, np.array([0.2, 2.2, 0.9]), 1.8, azimuth=25)
    _save(figure, "path")


def draw_profiles() -> None:
    """Plot simulations of a point that moves around a corner with three different path profiles."""
    kinds = {
        "quintic": {},
        "quintic, blend_time = 0.4": {"blend_time": 0.4},
        "trapezoidal, ramp = blend_time = 0.25": {"profile": "trapezoidal", "ramp": 0.25, "blend_time": 0.25},
    }
    runs = [replace(_around_a_corner(path), name=name) for name, path in kinds.items()]
    with style.styled():
        figure, panels = time_series.panel_grid(6, 2)
        lines = dict(zip(kinds, (style.BLUE, "#e69f00", "#009e73"), strict=True))
        signals = [(f"{axis}_position{rate}", axis) for rate in ("", "_dot", "_ddot") for axis in "xy"]
        for k, (axes, (signal, axis)) in enumerate(zip(panels, signals, strict=True)):
            what, unit = (("position", "m"), ("velocity", "m/s"), ("acceleration", "m/s2"))[k // 2]
            for run in runs:
                axes.plot(run.time, run.signals[signal], color=lines[run.name])
            time_series.set_title(axes, time_series.Panel(f"{what} {axis}", unit, signal), 1.0)
        style.legend_of(figure, [Line2D([], [], color=colour, label=name) for name, colour in lines.items()])
        (FOLDER / "path_profiles.svg").write_text(style.render(figure)[1])


def _around_a_corner(path: dict[str, Any]) -> Trajectory:
    """Simulate a point on two slides: the point moves 1 m along x, then 0.5 m along y.

    Each of the two motions takes one second.
    """
    slides = [
        {
            "name": axis,
            "parent": parent,
            "mass": 1.0,
            "inertia": [0.0, 0.0, 0.0],
            "joint": {"type": "prismatic", "axis": direction},
        }
        for axis, parent, direction in (("x", "ground", [1.0, 0.0, 0.0]), ("y", "x", [0.0, 1.0, 0.0]))
    ]
    way = {
        "point": "E",
        "components": ["x", "y"],
        "waypoints": [[0, 0, 0], [1, 0, 0], [1, 0.5, 0]],
        "leg_time": 1.0,
    }
    machine = {
        "schema": 1,
        "name": "Slides",
        "links": slides,
        "points": {"E": {"link": "y"}},
        "programmed": [{"name": "corner", "path": way | path}],
        "simulation": {"stop": 2.2, "output_step": 0.005},
    }
    return simulate(assemble_system(from_data(machine)).problem)


def draw_orientation() -> None:
    """Draw the motion of a six-axis arm whose tool moves along a line with constant orientation."""
    free = assemble_system(from_data(_arm([])))
    frame = free.mechanism.frames["T"]
    frames = frames_of(free.mechanism, free.start[0])
    rpy = angles_of(axes_in_world(frames, frame))
    path = {
        "point": "T",
        "frame": {"xyz": in_world(frames, frame.place).tolist()},
        "waypoints": [[0.0, 0.0, 0.0], [-0.1, -0.7, 0.1]],
        "orientations": [rpy, rpy],
        "leg_time": 1.5,
        "profile": "trapezoidal",
    }
    model = assemble_system(from_data(_arm([{"name": "line", "path": path}])))
    with style.styled():
        run = simulate(model.problem)
        figure = schematic(model.mechanism, run)
        (FOLDER / "path_orientation.svg").write_text(style.render(figure)[1])


def _arm(programmed: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the description of an arm of six links on a base with four spring supports."""
    # Each link has a joint position in the parent frame, m, a joint axis, an initial angle, rad, and a mass, kg.
    links = {
        "waist": ([0.0, 0.0, 0.3], "z", 0.5, 8.0),
        "upper": ([0.0, 0.1, 0.2], "y", -1.0, 12.0),
        "fore": ([0.7, -0.05, 0.0], "y", 1.5, 6.0),
        "wrist1": ([0.6, 0.0, 0.0], "y", 1.07, 2.0),
        "wrist2": ([0.0, 0.1, 0.0], "z", 0.4, 2.0),
        "wrist3": ([0.1, 0.0, 0.0], "x", 0.3, 0.5),
    }
    spring = {"stiffness": [4e4, 4e4, 1e5], "damping": [8e2, 8e2, 2e3]}
    base = {
        "mass": 120.0,
        "inertia": [8.0, 8.0, 12.0],
        "supports": [{"position": [x, y, 0.0]} | spring for x in (-0.4, 0.4) for y in (-0.4, 0.4)],
    }
    return {
        "schema": 1,
        "name": "Arm",
        "base": base,
        "links": [
            {
                "name": name,
                "parent": parent,
                "frame": {"xyz": xyz},
                "mass": mass,
                "inertia": [0.01 * mass] * 3,
                "joint": {"type": "revolute", "axis": np.eye(3)["xyz".index(axis)].tolist(), "position": angle},
            }
            for parent, (name, (xyz, axis, angle, mass)) in zip(["base", *links], links.items(), strict=False)
        ],
        "points": {"T": {"link": "wrist3", "position": [0.15, 0.0, 0.0], "rpy": [0.0, 0.0, 0.0]}},
        "programmed": programmed,
        "simulation": {"stop": 1.5, "output_step": 0.02},
        "statics": {"locked": [*links]},
    }


def _panels(rows: int, columns: int, size: float = 3.3) -> tuple[Any, list[Axes3D]]:
    figure = pyplot.figure(figsize=(size * columns, size * rows))
    panels = [
        figure.add_subplot(rows, columns, k + 1, projection="3d", computed_zorder=False)
        for k in range(rows * columns)
    ]
    figure.subplots_adjust(0, 0.08 / rows, 1, 1, 0, 0.04)
    return figure, panels


def _look_at(axes: Axes3D, centre: Array, reach: float, azimuth: float = 66) -> None:
    for limits, c in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), centre, strict=True):
        limits(c - reach, c + reach)
    axes.set_axis_off()
    axes.set_box_aspect((1, 1, 1), zoom=1.12)
    axes.view_init(elev=26, azim=azimuth)


def _frame(axes: Axes3D, rotation: Array, origin: Array, colours: Any, names: str = "   ") -> None:
    for axis, colour, name in zip(rotation.T, colours, names, strict=True):
        _arrow(axes, origin, axis, colour, 1.2 if colour == GREY else 2.0)
        axes.text(*(origin + 1.16 * axis), name, color=colour, ha="center", va="center", weight="bold")


def _arrow(axes: Axes3D, start: Array, way: Array, colour: str, width: float, head: float = 0.12) -> None:
    axes.quiver(*start, *way, color=colour, lw=width, arrow_length_ratio=head)


def _motion(axes: Axes3D, motion: Any, rotation: Array, origin: Array) -> None:
    """Draw arrows in the positive direction of a translation or a rotation.

    The arguments `rotation` and `origin` describe the frame before the motion.
    """
    axis = rotation @ motion.axis
    if motion.kind == "translation":
        _arrow(axes, origin, LENGTH * axis, "black", 2.6, head=0.3)
        return
    for k in np.flatnonzero(np.array(motion.axis) == 0.0):
        arc = [Rotation.from_rotvec(a * axis).apply(rotation[:, k]) for a in np.linspace(0.0, ANGLE, 30)]
        path = origin + 0.72 * np.array(arc)
        axes.plot(*path[:-4].T, color="black", lw=1.4)
        _arrow(axes, path[-5], path[-1] - path[-5], "black", 1.4, head=1.0)


def _transform(motion: Any) -> tuple[Array, Array]:
    """Return the displacement by which a picture shows a motion of a joint.

    The result is a rotation matrix, shape (3, 3), and a vector, shape (3,).

    Both are relative to the frame before the motion. The unit of length is the drawn length of an
    axis.
    """
    axis = np.array(motion.axis)
    if motion.kind == "rotation":
        return Rotation.from_rotvec(ANGLE * axis).as_matrix(), np.zeros(3)
    return np.eye(3), LENGTH * axis


def _caption(number: int, motion: Any) -> str:
    way = {"rotation": "rotation about", "translation": "translation along"}[motion.kind]
    return f"{number}. {motion.coordinate}: {way} {'xyz'[motion.axis.index(1.0)]}, {motion.unit}"


def _save(figure: Any, name: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    figure.savefig(FOLDER / f"{name}.svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)


if __name__ == "__main__":
    mpl.use("svg")
    with mpl.rc_context(STYLE):
        draw_path()
        draw_profiles()
        draw_orientation()
        for joint, motions in JOINT_TYPES.items():
            if len(motions) > 1:
                draw_joint(joint)
