"""Comparison of a coupled run with the whole machine, an FMU that the parts were cut from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..core.trajectory import Array
from ..runs.fmpy_runs.opening import read_fmu
from .fmus import FmuPart
from .master import Master, Record, Settings
from .network import Network, Port
from .stepping import SEQUENTIAL, Stepper


@dataclass(frozen=True)
class WholeMachine:
    """FMU of a machine before it was cut.

    Parameters
    ----------
    fmu : the file
    exact : whether the parts have the same equations; False if bushings replace pins
    same : outputs of parts and variables of the whole machine that should be equal
    parameters : values that the archive gives to variables of the parts
    folder : place to unpack the FMU
    """

    fmu: Path
    exact: bool
    same: Sequence[tuple[Port, str]]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path("whole")


@dataclass(frozen=True)
class WholeDifference:
    """Difference of a coupled run to the whole machine.

    Parameters
    ----------
    difference : largest difference of a signal, relative to its range
    worst : output of a part with this difference
    exact : whether the difference is an error of the coupling; otherwise it is a change of the model
    """

    difference: float
    worst: str
    exact: bool


def compare_whole(
    whole: WholeMachine,
    network: Network,
    rows: Sequence[int],
    run: Record,
    settings: Settings,
    grid: Array,
) -> WholeDifference | None:
    """Run the whole machine alone and compare it with a coupled run, or return None if it cannot be compared.

    Parameters
    ----------
    rows : outputs whose course the coupling resolves
    grid : output times, s
    """
    known = {v.name for v in read_fmu(whole.fmu).modelVariables if v.causality == "parameter"}
    given = {name: value for name, value in whole.parameters.items() if name in known}
    part = FmuPart("whole", whole.fmu, whole.folder, given)
    try:
        driven = {port[1] for port, is_driven in zip(network.inputs, network.driven, strict=True) if is_driven}
        if driven & {signal.name for signal in part.inputs}:
            return None
        record = _run_alone(part, settings, len(grid) - 1)
    finally:
        part.close()
    found, expected = run.sample(grid), record.sample(grid)
    place = {port: row for row, port in enumerate(network.outputs)}
    own = {signal.name: k for k, signal in enumerate(part.outputs)}
    pairs = [(place[port], own[name]) for port, name in whole.same if place.get(port) in rows and name in own]
    if not pairs:
        return None
    at, of = np.array(pairs).T
    units = [network.signals[row].unit for row in at]
    spread = _at_least(np.ptp(expected[of], axis=1), units)
    errors = np.max(np.abs(found[at] - expected[of]), axis=1) / spread
    worst = int(np.argmax(errors))
    return WholeDifference(float(errors[worst]), ".".join(network.outputs[at[worst]]), whole.exact)


def _at_least(spread: Array, units: Sequence[str]) -> Array:
    """Ranges of at least a thousandth of the largest range of signals with the same unit."""
    found = spread.copy()
    for unit in set(units):
        alike = np.array([other == unit for other in units])
        found[alike] = np.maximum(found[alike], 1e-3 * found[alike].max())
    return np.where(found > 0.0, found, 1.0)


def _run_alone(part: FmuPart, settings: Settings, steps: int) -> Record:
    network = Network([part], [])
    steppers = [Stepper(network, group, SEQUENTIAL, 0, {}) for group in network.groups]
    step = (settings.stop - settings.start) / steps
    return Master(network, steppers, Settings(settings.start, settings.stop, step=step, nominal=step)).run()
