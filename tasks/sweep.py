"""Functions that execute a parameter sweep and create the page with its results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ..core.errors import MissingToolError
from ..core.progress import renamed
from ..core.trajectory import Array
from ..description import Description
from ..options.many import SweepOptions
from ..report.sweep.content import Content, Effects
from ..report.sweep.page import write_page
from ..sweeps.points import SweepPoints, points
from ..sweeps.results import Sweep
from ..sweeps.sensitivities import sensitivities
from ..sweeps.sweep import asked_of, sweep
from ..sweeps.variations import variations


def run_sweep(chain: Description, source: str, order: SweepOptions, out: Path) -> Sweep:
    """Execute all runs of a sweep that have no result yet, and write the result page."""
    found = sweep(chain, source, order, out)
    content = _content(chain, order, found)
    page = write_page(out, content, renamed(order.progress, "drawing the report"))
    return replace(found, report=page)


def _content(chain: Description, order: SweepOptions, found: Sweep) -> Content:
    table = found.table
    asked = asked_of(order)
    texts = {objective.name: objective.text for objective in asked}
    values = {name: table[name].to_numpy(dtype=float) for name in texts}
    where = points(variations(order.settings), order.samples, order.sampler, order.seed)
    return Content(
        name=chain.name,
        description=chain.description,
        keys={key: table[key].to_numpy() for key in found.keys},
        objectives=values,
        texts=texts,
        goals={objective.name: objective.goal for objective in asked if objective.goal},
        reasons=table["failed"].tolist(),
        effects={name: _effects(where, order, column) for name, column in values.items()},
        facts=_facts(where, order, float(np.nansum(table["cpu_s"])), found),
        notes=_notes(chain, found),
        command=order.command,
    )


def _effects(where: SweepPoints, order: SweepOptions, values: Array) -> Effects | str:
    try:
        found = sensitivities(where, order.sampler, values, order.seed)
    except MissingToolError:
        return "sensitivities need SALib: pip install 'gpmelica[sweep]'"
    if isinstance(found, str):
        return found
    return Effects(found.method, found.keys, found.measures, found.spread, found.used)


def _facts(where: SweepPoints, order: SweepOptions, seconds: float, found: Sweep) -> dict[str, str]:
    facts = {axis.key: f"{len(axis.values)} values, {axis.values[0]} to {axis.values[-1]}" for axis in where.axes}
    facts |= {d.key: str(d) for d in where.distributions}
    if where.distributions:
        facts["samples"] = f"{len(where.quantiles)} by {order.sampler}, seed {order.seed}"
    facts["processor time of the runs"] = f"{seconds:.1f} s"
    return facts | {"table": f"{found.path.name}, {found.path.with_suffix('.csv').name}"}


def _notes(chain: Description, found: Sweep) -> list[str]:
    notes = ["Objectives are evaluated at output times; events between output times are not seen."]
    if found.beyond:
        notes.append(
            f"{found.beyond} runs end with a constraint violation above simulation.violation ="
            f" {chain.simulation.violation:g} and above their initial violation; see violation_end in the table."
        )
    return notes
