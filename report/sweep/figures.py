"""Figures of a parameter sweep: objectives, parallel coordinates, histograms and sensitivities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from ...core.trajectory import Array
from ..plots import Picture
from ..plots.gallery import Entry, drawn
from ..plots.number_text import decimal
from ..plots.style import BLUE, GRID, INK, MUTED, new_figure
from .content import Content, Effects, ExtremeRuns
from .maps import COLOURS, contour_map, curve

_LINES = 400  # Largest number of lines in parallel coordinates, and of points in a scatter plot.
_SHARE = 0.05  # Fraction of the runs that are coloured as best; equally many are coloured as worst.
_PANELS = 3  # Largest number of panels side by side.
_MOST_AXES = 9


def pictures(content: Content) -> Iterator[Picture]:
    """Draw the figures of a sweep for which there are data, one after the other."""
    return drawn(_entries(content))


def _entries(content: Content) -> Iterator[Entry]:
    first = content.ranking
    for name in list(content.objectives)[:4]:
        yield from _over_keys(content, name)
    yield (
        "parallel",
        "Parallel coordinates",
        f"One line per run, at most {_LINES} lines, across all keys and objectives. {_coloured(content, first)}",
        partial(_parallel, content, first),
    )
    yield (
        "histograms",
        "Distribution of the objectives",
        "Histograms of all runs that have not failed.",
        partial(_histograms, content),
    )
    for name, effects in content.effects.items():
        if isinstance(effects, Effects):
            yield (
                f"sensitivity_{_plain(name)}",
                f"Sensitivity of {name}",
                f"{effects.method[0].upper()}{effects.method[1:]} of {effects.used} runs, with 95 % confidence.",
                partial(_bars, effects),
            )


def _over_keys(content: Content, name: str) -> Iterator[Entry]:
    """Yield the figure of an objective over the varied keys.

    The figure is a curve over one key, a map over two keys, or one scatter plot per key.
    """
    keys = content.numeric()
    drawn = {1: ("curve", partial(curve, content, name)), 2: ("map", partial(contour_map, content, name))}
    texts = {
        "curve": f"Values of {name} over the key that varies.",
        "map": f"Values of {name} over both keys, linear between neighbouring runs, which are dots; crosses are"
        " failed runs.",
        "over_keys": f"Values of {name} over each key. {_coloured(content, name)}".strip(),
    }
    is_complete = len(keys) == len(content.varied)
    kind, draw = drawn.get(len(keys) if is_complete else 0, ("over_keys", partial(_scatter, content, name)))
    yield f"{kind}_{_plain(name)}", f"{name} over {_listed(keys)}", texts[kind], draw


def _listed(keys: Iterable[str]) -> str:
    names = list(keys)
    return " and ".join(names) if len(names) <= 2 else "each key"


def _coloured(content: Content, name: str) -> str:
    if not name:
        return ""
    ends = _shown_ends(content, name)
    if not ends:
        return ""
    told = " and ".join(f"{end.word} ({end.side})" if end.has_goal else end.side for end in ends)
    return f"The 5 % of the runs with the {told} values of {name} are coloured."


def _shown_ends(content: Content, name: str) -> Sequence[ExtremeRuns]:
    """Return the groups of runs whose curves are coloured.

    For an objective with a goal, the groups are the best and the worst runs. For an objective without a
    goal, the only group is the runs with the largest values.
    """
    ends = content.ends(name)
    return ends if name in content.goals else ends[:1]


def _plain(name: str) -> str:
    return "".join(char if char.isalnum() else "_" for char in name)


def _finite(values: Array) -> Array:
    return values[np.isfinite(values)]


def _layers(content: Content, name: str) -> Iterator[tuple[Any, str]]:
    """Yield groups of runs, each with the colour of its curves.

    The first group is an evenly spaced selection of all runs. All later groups contain runs with
    extreme values of an objective.
    """
    there = np.flatnonzero(np.isfinite(content.objectives[name]))
    even = there[np.unique(np.linspace(0, len(there) - 1, _LINES).round().astype(int))] if len(there) else there
    yield even, MUTED
    count = min(max(1, round(_SHARE * content.runs)), _LINES)
    for end in reversed(_shown_ends(content, name)):
        yield end.runs(name, count), COLOURS[end.word]


def _parallel(content: Content, name: str) -> Figure | None:
    columns = {**content.numeric(), **content.objectives}
    columns = {key: v for key, v in columns.items() if len(_finite(v)) > 1 and np.ptp(_finite(v)) > 0}
    if name not in content.objectives or len(columns) < 2:
        return None
    columns = dict(list(columns.items())[-_MOST_AXES:])
    figure = new_figure(3.6)
    axes = figure.subplots()
    spans = {key: (_finite(v).min(), _finite(v).max()) for key, v in columns.items()}
    scaled = np.column_stack([(v - spans[key][0]) / (spans[key][1] - spans[key][0]) for key, v in columns.items()])
    scaled = np.clip(np.nan_to_num(scaled, posinf=1.0), -0.05, 1.05)
    places = np.arange(len(columns))
    for rows, colour in _layers(content, name):
        width, alpha = (0.5, 0.35) if colour == MUTED else (0.9, 0.8)
        lines = [np.column_stack([places, scaled[row]]) for row in rows]
        axes.add_collection(LineCollection(lines, colors=colour, linewidths=width, alpha=alpha))
    for place, (key, (least, most)) in enumerate(spans.items()):
        axes.axvline(place, color=GRID, linewidth=1.0, zorder=0)
        style: dict[str, Any] = {"ha": "center", "fontsize": 8, "color": INK}
        axes.text(place, 1.04, decimal(most, 4), va="bottom", **style)
        axes.text(place, -0.04, decimal(least, 4), va="top", **style)
        axes.text(place, -0.13, _short(key), va="top", **{**style, "color": MUTED})
    axes.set(xlim=(-0.4, len(columns) - 0.6), ylim=(-0.24, 1.12))
    axes.axis("off")
    return figure


def _short(key: str, most: int = 18) -> str:
    """Return a key as text for a narrow label, broken into lines at dots or shortened at its beginning."""
    if len(key) <= most:
        return key
    head, _, tail = key.rpartition(".")
    return f"{_short(head, most)}.\n{tail}" if head and len(key) <= 3 * most else f"…{key[-most:]}"


def _panels(count: int, height: float) -> tuple[Figure, list[Axes]]:
    rows = -(-count // _PANELS)
    figure = new_figure(height * rows)
    grid = figure.subplots(rows, min(count, _PANELS), squeeze=False).ravel()
    for axes in grid[count:]:
        axes.set_visible(False)
    return figure, list(grid[:count])


def _histograms(content: Content) -> Figure | None:
    shown = {name: _finite(values) for name, values in content.objectives.items() if len(_finite(values))}
    if not shown:
        return None
    figure, panels = _panels(len(shown), 2.3)
    for axes, (name, values) in zip(panels, shown.items(), strict=True):
        bins = int(np.clip(np.sqrt(len(values)), 5, 60))
        axes.hist(values, bins=bins if np.ptp(values) > 1e-12 * np.abs(values).max() else 1, color=BLUE)
        axes.set(xlabel=_short(name, 34))
        axes.locator_params(nbins=4, axis="x")
    panels[0].set_ylabel("runs")
    return figure


def _bars(effects: Effects) -> Figure:
    figure = new_figure(0.9 + 0.36 * len(effects.keys) * max(1, len(effects.measures) / 2))
    axes = figure.subplots()
    order = np.argsort(next(iter(effects.measures.values())))
    places, width = np.arange(len(order)), 0.8 / len(effects.measures)
    for k, (measure, values) in enumerate(reversed(list(effects.measures.items()))):
        spread = effects.spread.get(measure)
        error = None if spread is None else np.nan_to_num(spread)[order]
        at = places + (k - (len(effects.measures) - 1) / 2) * width
        colour = BLUE if k == len(effects.measures) - 1 else MUTED
        axes.barh(at, np.asarray(values)[order], width * 0.9, xerr=error, color=colour, label=measure, ecolor=INK)
    axes.set_yticks(places, [_short(effects.keys[i], 34) for i in order])
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside upper left", ncols=2, reverse=True)
    return figure


def _scatter(content: Content, name: str) -> Figure | None:
    keys, values = content.numeric(), content.objectives[name]
    if not keys or not len(_finite(values)):
        return None
    shown = dict(list(keys.items())[:_MOST_AXES])
    figure, panels = _panels(len(shown), 2.5)
    for axes, (key, x) in zip(panels, shown.items(), strict=True):
        for rows, colour in _layers(content, name):
            axes.plot(x[rows], values[rows], ".", color=colour, markersize=3 if colour == MUTED else 5)
        axes.set(xlabel=_short(key, 34))
        axes.locator_params(nbins=4, axis="x")
    for axes in panels[::_PANELS]:
        axes.set_ylabel(_short(name, 24))
    return figure
