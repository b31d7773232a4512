"""Comparison of a coupled simulation with the FMU of the uncut mechanism."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.trajectory import Array
from .comparison import away_from_events, relative_errors
from .master import Master, Record, Settings
from .network import Network, Port
from .participant import Participant
from .stepping import SEQUENTIAL, Stepper


@dataclass(frozen=True)
class WholeMachine:
    """FMU of the uncut mechanism, ready to run.

    The uncut mechanism is the whole mechanism as one FMU, before it was cut into several FMUs.

    Parameters
    ----------
    part : the FMU
    exact : whether cut and uncut mechanism have the same equations; False if spring-dampers replace
        rigid joints
    same : pairs of an output of the coupled FMUs and the variable of the uncut mechanism that should
        have equal values
    """

    part: Participant
    exact: bool
    same: Sequence[tuple[Port, str]]


@dataclass(frozen=True)
class WholeDifference:
    """Difference between a coupled simulation and the uncut mechanism (whole mechanism as one FMU).

    Parameters
    ----------
    difference : largest difference of a signal, relative to the range of the signal
    worst : name of the output that has the largest difference
    exact : whether the coupling alone causes the difference; False if spring-dampers that replace
        rigid joints contribute to the difference
    signals : values of the uncut mechanism at the output times, by name of the compared output; NaN
        near events
    """

    difference: float
    worst: str
    exact: bool
    signals: Mapping[str, Array] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """Return the result of the comparison for `result.json`, without the compared signals."""
        return {"difference": self.difference, "worst": self.worst, "exact": self.exact}


def compare_whole(
    whole: WholeMachine,
    network: Network,
    rows: Sequence[int],
    run: Record,
    settings: Settings,
    grid: Array,
) -> WholeDifference | None:
    """Simulate the uncut mechanism, and compare the result with the coupled simulation.

    The uncut mechanism is the whole mechanism as one FMU. The result is None if a connection drives
    one of its inputs, or if no signal can be compared.

    Parameters
    ----------
    whole : FMU of the uncut mechanism
    network : FMUs of the coupled system and their connections
    rows : indices of the outputs that the coupling computes accurately
    run : results of the coupled simulation
    settings : time span of the run
    grid : output times, s
    """
    part = whole.part
    driven = {port[1] for port, is_driven in zip(network.inputs, network.driven, strict=True) if is_driven}
    place = {port: row for row, port in enumerate(network.outputs)}
    own = {signal.name: k for k, signal in enumerate(part.outputs)}
    pairs = [(place[port], own[name]) for port, name in whole.same if place.get(port) in rows]
    if not pairs or driven & {signal.name for signal in part.inputs}:
        return None
    record = _run_alone(part, settings, len(grid) - 1)
    at, of = np.array(pairs).T
    missing = grid > record.times[-1] + 1e-9 * (settings.stop - settings.start)
    kept = away_from_events(run, record, grid) & ~missing
    found, expected = run.sample(grid)[at], record.sample(grid)[of]
    expected[:, ~kept] = np.nan
    names = [".".join(network.outputs[row]) for row in at]
    values = dict(zip(names, expected, strict=True))
    # Two final times count as equal if they differ by at most one output step.
    if np.count_nonzero(missing) > 1:
        end = f"the final time, {record.times[-1]:.9g} s in the uncut mechanism"
        return WholeDifference(math.inf, end, whole.exact, values)
    if not kept.any():
        return WholeDifference(math.inf, "", whole.exact, values)
    signals = [network.signals[row] for row in at]
    errors = relative_errors(found[:, kept], expected[:, kept], signals, settings.stop - settings.start)
    worst = int(np.argmax(errors))
    return WholeDifference(float(errors[worst]), names[worst], whole.exact, values)


def _run_alone(part: Participant, settings: Settings, steps: int) -> Record:
    network = Network([part], [])
    steppers = [Stepper(network, group, SEQUENTIAL, 0, {}) for group in network.groups]
    step = (settings.stop - settings.start) / steps
    return Master(network, steppers, Settings(settings.start, settings.stop, step=step, nominal=step)).run()
