"""Overlaid curves of one or more runs.

Each run has the same line style in all figures of a report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...core.trajectory import Array, Trajectory
from ...mechanism import Coordinate, Mechanism
from ...runs.compare.outcome import CaseRun
from ...runs.compare.stabilisation import Stabilisation
from . import style

# Each case has one of these dash patterns. If curves coincide, the gaps of later curves show the earlier ones.
_DASHES: tuple[Any, ...] = ("solid", (0, (5, 1.6)), (0, (2.6, 1.6)), (0, (1.2, 1)), (0, (6, 1.5, 1.2, 1.5)))
_WIDTHS = (2.6, 1.8)  # Line widths of the first case and of all later cases, points.


@dataclass(frozen=True)
class RunCurves:
    """Run with the styles of its curves.

    Figures show curves of several runs in the same axes.

    Attributes
    ----------
    label
        Name of the run in the legend.
    run
        Signals over time.
    mechanism
        Mechanism of the run, whose parameters are plain numbers.
    line, handle
        Styles of the curves and of the entry in the legend, as keyword arguments of matplotlib.
    is_reference
        Whether the limits of the axes are chosen for these curves; curves of other runs may exceed the
        limits.
    targets
        Programmed positions by point, at the run's times, shape (N, 3), world frame, m.
    not_unique
        Components of reactions that are not unique, by joint.
    """

    label: str
    run: Trajectory
    mechanism: Mechanism
    line: Mapping[str, Any]
    handle: Mapping[str, Any]
    is_reference: bool = True
    targets: Mapping[str, Array] = field(default_factory=dict)
    not_unique: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def stabilisation(self) -> Stabilisation:
        """Constraint stabilisation of the mechanism, with the duration of its initial transient in this run."""
        return Stabilisation(self.mechanism, self.run)

    def with_signals(self, signals: Mapping[str, Array]) -> RunCurves:
        """Return a copy of the run in which the given signals are added or replace signals of the same name."""
        return replace(self, run=replace(self.run, signals={**self.run.signals, **signals}))


@dataclass(frozen=True)
class Overlay:
    """Runs in the order of the legend. Each figure shows their curves in the same axes."""

    curves: tuple[RunCurves, ...]

    @property
    def references(self) -> list[RunCurves]:
        """Runs of the reference solver.

        A report of one case has one such run. A comparison has one per case.
        """
        return [curves for curves in self.curves if curves.is_reference]

    @property
    def compares_cases(self) -> bool:
        """Whether the runs belong to several cases."""
        return len(self.references) > 1

    @property
    def targets(self) -> dict[str, list[tuple[Array, Array]]]:
        """Programmed positions of points, by the name of the point.

        The list of each point contains one pair for each run: times in s, shape (N,), and positions in the
        world frame, m, shape (N, 3).
        """
        found: dict[str, list[tuple[Array, Array]]] = {}
        for curves in self.curves:
            for point, path in curves.targets.items():
                found.setdefault(point, []).append((curves.run.time, path))
        return found

    def where(self, is_drawn: Callable[[RunCurves], bool]) -> Overlay:
        """Return a copy that contains only the runs for which the function `is_drawn` returns True."""
        return Overlay(tuple(curves for curves in self.curves if is_drawn(curves)))

    def with_signals(self, signals: Callable[[RunCurves], Mapping[str, Array]]) -> Overlay:
        """Return the overlaid runs with additional signals.

        A function computes the additional signals from each run.
        """
        return Overlay(tuple(curves.with_signals(signals(curves)) for curves in self.curves))

    def alone(self, time: Array, signals: Mapping[str, Array]) -> Overlay:
        """Return the given signals at the given times, s, as the only run to draw.

        The curves have the style of the first reference run.
        """
        first = self.references[0]
        run = replace(first.run, time=time, signals=dict(signals), natural=())
        return Overlay((replace(first, run=run),))

    def all_have(self, *signals: str) -> bool:
        """Whether the signals exist in the reference runs of all cases."""
        return all(curves.run.signals.keys() >= set(signals) for curves in self.references)

    def shared_coordinates(self, role: str) -> list[Coordinate]:
        """Return the coordinates of the given kind (`base`, `joint` or `elastic`) that exist in all cases."""
        owned = [_of_role(curves.mechanism, role) for curves in self.references]
        names = [{(c.symbol, c.unit) for c in coordinates} for coordinates in owned]
        common = set.intersection(*names) if names else set()
        return [c for coordinates in owned[:1] for c in coordinates if (c.symbol, c.unit) in common]

    def legend(self, figure: Figure, others: Iterable[Line2D] = ()) -> None:
        """Draw one legend above all axes of a figure, with the runs and additional lines."""
        runs = [Line2D([], [], label=curves.label, **curves.handle) for curves in self.curves]
        style.legend_of(figure, [*runs, *others])


def _of_role(mechanism: Mechanism, role: str) -> list[Coordinate]:
    return [coordinate for coordinate in mechanism.coordinates if coordinate.role == role]


def run_overlay(
    mechanism: Mechanism,
    reference: Trajectory,
    runs: Sequence[Trajectory] = (),
    targets: Mapping[str, Array] | None = None,
    not_unique: Mapping[str, Sequence[str]] | None = None,
) -> Overlay:
    """Return the runs of one case as curves over the thick grey curve of the reference run.

    Parameters
    ----------
    mechanism
        Mechanism whose parameters have numerical values.
    reference
        Run of the reference solver.
    runs
        Runs of FMUs and of the Modelica source.
    targets
        Programmed positions by point, at the times of the reference run, shape (N, 3), world frame, m.
    not_unique
        Components of reactions that are not unique, by joint.
    """
    look = style.reference_line()
    first = RunCurves(
        "reference", reference, mechanism, look, look, targets=targets or {}, not_unique=not_unique or {}
    )
    lines, colours = style.run_lines(runs), style.colours([run.name for run in runs])
    others = (
        RunCurves(run.name, run, mechanism, lines[run.name], {"color": colours[run.name]}, is_reference=False)
        for run in runs
    )
    return Overlay((first, *others))


def case_overlay(cases: Sequence[CaseRun]) -> Overlay:
    """Return the reference solver's runs of several cases as overlaid curves.

    Up to eight cases have different colours; up to forty cases have different combinations of colour
    and dashes. The natural magnitudes of the signals are removed from the runs, because axes scaled by
    them would hide small differences between cases.
    """
    found = []
    for k, case in enumerate(cases):
        line: dict[str, Any] = {
            "color": style.COLOURS[k % len(style.COLOURS)],
            "linestyle": _DASHES[k % len(_DASHES)],
            "linewidth": _WIDTHS[min(k, 1)],
            "zorder": 3 + k / len(cases),
        }
        run = replace(case.reference, natural=())
        found.append(
            RunCurves(case.case, run, case.mechanism, line, line, targets=case.targets, not_unique=case.not_unique)
        )
    return Overlay(tuple(found))
