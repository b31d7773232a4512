"""Comparison of a coupled simulation with the FMU of the whole machine that the parts were cut from."""

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
    """FMU of a machine before it was cut into parts.

    Parameters
    ----------
    fmu : path of the FMU
    exact : whether the coupled parts have the same equations; False if spring-dampers replace pins
    same : outputs of parts, each with the variable of the whole machine that it should equal
    parameters : values that the archive gives to variables of the parts
    folder : folder into which the FMU is unpacked
    """

    fmu: Path
    exact: bool
    same: Sequence[tuple[Port, str]]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path("whole")


@dataclass(frozen=True)
class WholeDifference:
    """Difference between a coupled simulation and the whole machine before the cut.

    Parameters
    ----------
    difference : largest difference of a signal, relative to its range
    worst : output of a part with the largest difference
    exact : whether the difference is an error of the coupling; otherwise it is a change of the model
    signals : values of the whole machine at the output times, by the outputs of parts that they were
        compared with
    """

    difference: float
    worst: str
    exact: bool
    signals: Mapping[str, Array] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """Return the difference without the signals, for `result.json`."""
        return {"difference": self.difference, "worst": self.worst, "exact": self.exact}


def compare_whole(
    whole: WholeMachine,
    network: Network,
    rows: Sequence[int],
    run: Record,
    settings: Settings,
    grid: Array,
) -> WholeDifference | None:
    """Simulate the whole machine alone and compare it with the coupled simulation of its parts.

    Returns None if a connection drives an input of the whole machine, or if no signal can be compared.

    Parameters
    ----------
    whole : the machine before it was cut
    network : parts and their connections
    rows : rows of the outputs that the coupling computes accurately
    run : the coupled run
    settings : time span of the run
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
    names = [".".join(network.outputs[row]) for row in at]
    signals = dict(zip(names, expected[of], strict=True))
    return WholeDifference(float(errors[worst]), names[worst], whole.exact, signals)


def _at_least(spread: Array, units: Sequence[str]) -> Array:
    """Return the ranges of signals, each at least a thousandth of the largest range of the signals
    with the same unit.
    """
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
