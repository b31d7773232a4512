"""Tables in the HTML report of a coupled run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...report.plots.number_text import NOTHING, decimal, scientific, unit_text
from ...report.tables import Kind, TextTable, tabulate
from ..compared_run import ComparedRun
from ..energy import EnergyResidual
from ..network import CoupledGroup
from ..rehearsal import MethodChoice
from ..verdict import Coupled
from .findings import steps_text
from .series import errors_by_finer_run, errors_by_whole
from .series import gaps as series_of_gaps

_MEANINGS = {
    "sequential": "FMUs advance in the order of their connections; inputs from later FMUs are extrapolated.",
    "hermite": "Inputs are cubic polynomials of values and slopes; the step is repeated until they agree.",
    "mean_force": "Forces of springs and dampers are constant in each step, at their mean over the step.",
    "pin": "Forces that are unknown close the gaps of position and velocity at the end of each step.",
}


def groups(run: Coupled) -> TextTable:
    """Return a table of the groups of dependent FMUs: method, order, step and reason for the method."""

    def names(row: tuple[CoupledGroup, MethodChoice]) -> str:
        return ", ".join(run.network.parts[k].name for k in row[0].parts)

    columns: list[tuple[str, Kind, Callable[[tuple[CoupledGroup, MethodChoice]], str]]] = [
        ("FMUs", "code", names),
        ("method", "code", lambda row: row[1].method),
        ("order", "number", lambda row: str(row[1].order)),
        ("communication step", "text", lambda _: steps_text(run)),
        ("reason", "text", lambda row: row[1].reason),
    ]
    return tabulate(columns, list(zip(run.network.groups, run.choices, strict=True)))


def meanings(run: Coupled) -> list[tuple[str, str]]:
    """Return each coupling method that the run uses, with a sentence that explains the method."""
    return [(method, _MEANINGS[method]) for method in dict.fromkeys(choice.method for choice in run.choices)]


def connections(run: Coupled) -> TextTable:
    """Return a table of the connections with their unit conversions."""
    network = run.network
    columns: list[tuple[str, Kind, Callable[[int], str]]] = [
        ("source", "code", lambda k: network.label(int(network.source[k]))),
        ("input", "code", lambda k: ".".join(network.inputs[k])),
        ("unit of the source", "text", lambda k: _unit(run, int(network.source[k]))),
        ("factor", "number", lambda k: decimal(float(network.factor[k]))),
        ("offset", "number", lambda k: decimal(float(network.offset[k]))),
    ]
    return tabulate(columns, [int(k) for k in np.flatnonzero(network.driven)])


def _unit(run: Coupled, row: int) -> str:
    return unit_text(run.network.signals[row].unit) if row < run.network.n_y else "N or N·m"


def errors(run: Coupled) -> TextTable:
    """Return a table of the largest error of each output, in descending order."""
    estimated = {name: float(np.nanmax(values)) for name, values in errors_by_finer_run(run).items()}
    whole = {name: float(np.nanmax(values)) for name, values in errors_by_whole(run).items()}
    columns: list[tuple[str, Kind, Callable[[str], str]]] = [
        ("output", "code", lambda name: name),
        ("unit", "text", lambda name: unit_text(run.units[name])),
        ("difference to the finer run", "number", lambda name: scientific(estimated.get(name))),
    ]
    if whole:
        columns.append(("difference to the uncut mechanism", "number", lambda name: scientific(whole.get(name))))
    names = dict.fromkeys([*estimated, *whole])
    return tabulate(columns, sorted(names, key=lambda name: -estimated.get(name, 0.0)))


def origins(run: Coupled) -> TextTable:
    """Return a table that separates the coupling error from the effect of bushings on the results.

    Bushings are spring-dampers in place of rigid joints.
    """
    rows = [("error of the coupling, estimated by a finer run", scientific(run.error), run.worst)]
    if run.whole is not None and run.whole.exact:
        rows.append(
            ("error of the coupling, by the uncut mechanism", scientific(run.whole.difference), run.whole.worst)
        )
        rows.append(("change of the model", "0", "parts and uncut mechanism have the same equations"))
    elif run.whole is not None:
        rows.append(("change of the model by bushings", scientific(run.whole.difference), run.whole.worst))
    return TextTable(("difference", "relative to the range", "where"), ("text", "number", "text"), tuple(rows))


def energy(run: Coupled) -> TextTable:
    """Return a table of the energy that each connection transmits and creates."""
    columns: list[tuple[str, Kind, Callable[[EnergyResidual], str]]] = [
        ("input and velocity", "code", lambda r: r.where),
        ("transferred, J", "number", lambda r: decimal(r.turned_over, 4)),
        ("created, J", "number", lambda r: scientific(r.created)),
        ("residual, relative", "number", lambda r: scientific(r.relative)),
    ]
    return tabulate(columns, run.residuals)


def gaps(run: Coupled) -> TextTable:
    """Return a table of the largest difference of two positions at each pin, after the start.

    A pin is a rigid connection of two positions.
    """
    found = series_of_gaps(run)
    columns: list[tuple[str, Kind, Callable[[int], str]]] = [
        ("first position", "code", lambda k: ".".join(run.network.pins[k].first)),
        ("second position", "code", lambda k: ".".join(run.network.pins[k].second)),
        ("joint", "code", lambda k: run.network.pins[k].joint or NOTHING),
        ("largest gap", "number", lambda k: scientific(float(found[1:, k].max()))),
        ("unit", "text", lambda k: unit_text(run.network.signals[run.network.pairs[k, 0]].unit)),
    ]
    return tabulate(columns, [*range(len(run.network.pins))])


def times(run: Coupled) -> TextTable:
    """Return a table of the time spent in each FMU, and in the simulation master itself."""
    record = run.record
    spent = record.seconds | {"simulation master": record.wall_s - sum(record.seconds.values())}
    abilities = {part.name: part.abilities for part in run.network.parts}

    def able(ability: str) -> Callable[[str], str]:
        return lambda name: _yes(getattr(abilities[name], ability)) if name in abilities else ""

    def sampling(name: str) -> str:
        period = abilities[name].period if name in abilities else None
        return NOTHING if period is None else f"{decimal(1e3 * period)} ms"

    columns: list[tuple[str, Kind, Callable[[str], str]]] = [
        ("FMU", "code", lambda name: name),
        ("time, s", "number", lambda name: decimal(spent[name], 3)),
        ("share", "number", lambda name: f"{100.0 * spent[name] / (record.wall_s or 1.0):.0f} %"),
        ("restores its state", "text", able("restores")),
        ("takes slopes", "text", able("takes_courses")),
        ("gives slopes", "text", able("gives_slopes")),
        ("gives derivatives", "text", able("gives_gains")),
        ("sample period", "number", sampling),
    ]
    return tabulate(columns, sorted(spent, key=lambda name: -spent[name]))


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def comparison(run: Coupled) -> TextTable:
    """Return a table of the runs by which the coupling methods and the step lengths are compared."""
    columns: list[tuple[str, Kind, Callable[[ComparedRun], str]]] = [
        ("method", "text", lambda r: r.label),
        ("step, ms", "number", lambda r: NOTHING if r.step is None else decimal(1e3 * r.step, 3)),
        ("tolerance", "number", lambda r: scientific(r.tolerance)),
        ("steps", "number", lambda r: NOTHING if r.steps is None else str(r.steps)),
        ("error", "number", lambda r: scientific(r.error)),
        ("time, s", "number", lambda r: NOTHING if r.wall_s is None else decimal(r.wall_s, 3)),
    ]
    return tabulate(columns, [r for r in run.comparison if not r.failure])


def failures(run: Coupled) -> list[tuple[str, str]]:
    """Return the coupling methods that fail with some or all step lengths, each with the reason.

    Methods that cannot be used at all are included.
    """
    reasons: dict[str, list[ComparedRun]] = {}
    for compared in run.comparison:
        if compared.failure:
            reasons.setdefault(compared.label, []).append(compared)
    return [(label, _failed(compared)) for label, compared in reasons.items()]


def _failed(runs: list[ComparedRun]) -> str:
    steps = ", ".join(f"{decimal(1e3 * r.step, 3)} ms" for r in runs if r.step is not None)
    return f"{runs[0].failure}" + (f" (steps: {steps})" if steps else "")
