"""Search for positions, velocities and powers among the inputs and outputs of coupled FMUs.

The search uses names and units of the signals. A variable of a connection point is named
`port.member`, such as `hook.fx`, as in the draft of SSP 2.1 (System Structure and
Parameterization).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core.trajectory import Array
from .network import Network
from .participant import PortSignal
from .units import FORCE, METRE, SECOND, WATT

_RATES = {"x": "v", "s": "v", "q": "w", "phi": "w", "angle": "rate", "position": "velocity"}
_AXES = ("x", "y", "z")
_NOISE = 1e-9  # The rounding error of an input is assumed to be this fraction of the input's magnitude.
# Element n of this tuple times position/durationⁿ is the rounding error of the n-th derivative of a position.
_REST = (0.0, 1e-9, 1e-6)
# A signal below this fraction of its nominal magnitude, declared by the FMU or assumed, is a rounding error.
_DECLARED, _ASSUMED = 1e-9, 1e-12


@dataclass(frozen=True)
class Bond:
    """Pair of an input and an output of one FMU, whose product is a power, W.

    Parameters
    ----------
    column : index of the input among all inputs of the coupled system
    row : index of the output among all outputs of the coupled system
    position : index of the output whose time derivative is the output `row`; None if no such output
        exists
    """

    column: int
    row: int
    position: int | None


def is_force(signal: PortSignal) -> bool:
    """Return whether a signal has the unit of a force or of a moment."""
    return signal.base is not None and any(signal.base.fits(unit) for unit in (FORCE, FORCE.times(METRE)))


def is_motion(signal: PortSignal) -> bool:
    """Return whether a signal has the unit of a position, an angle, or their first or second derivative."""
    if signal.base is None:
        return False
    _, length, time, *others = signal.base.exponents
    return length in (0, 1) and time in (0, -1, -2) and not any((signal.base.exponents[0], *others))


class RoundingSizes:
    """Sizes below which signals are rounding errors and count as zero.

    Some signals consist of rounding errors only, such as a constraint violation or the velocity of
    a body at rest. A comparison of such a signal with its range is meaningless. The limit is the
    largest of these values:

    - a billionth of the nominal magnitude that the FMU declares for the signal, or 1e-12 times the
      assumed nominal magnitude.
    - for a velocity, a billionth of the largest position, divided by the duration of the run.
    - for an acceleration, a millionth of the largest position, divided by the square of the
      duration.
    - the field `least` of the signal, which note_rounding sets.

    Parameters
    ----------
    signals : n outputs with their units
    span : duration of the run, s
    """

    def __init__(self, signals: Sequence[PortSignal], span: float) -> None:
        length, order = np.array([_order_of(signal) for signal in signals]).reshape(-1, 2).T
        self._least = np.array([signal.least for signal in signals])
        self._nominal = np.array([abs(signal.nominal or 0.0) for signal in signals])
        self._shares = np.where(self._nominal > 0.0, _DECLARED, _ASSUMED)
        rates = np.array([0.0, *(_REST[n] / span**n for n in (1, 2)), 0.0])[order]
        self._kinds = [
            (np.flatnonzero((length == kind) & (order == 0)), np.where(length == kind, rates, 0.0))
            for kind in (0, 1)
        ]

    def at(self, magnitudes: Array) -> Array:
        """Return the size below which each output is only a rounding error, shape (n,).

        The argument contains the largest magnitude of each of the n outputs. All values have the
        units of the outputs.
        """
        found: Array = np.maximum(self._least, self.negligible(magnitudes))
        for positions, shares in self._kinds:
            found = np.maximum(found, shares * magnitudes[positions].max(initial=0.0))
        return found

    def negligible(self, magnitudes: Array) -> Array:
        """Return the limit below which each output counts as zero, in the output's unit, shape (n,).

        The limit is a fixed fraction of the output's nominal magnitude.
        """
        return np.asarray(self._shares * self.nominal(magnitudes))

    def nominal(self, magnitudes: Array) -> Array:
        """Return the nominal magnitude of each output, shape (n,).

        If the FMU declares no nominal magnitude, FMI assumes 1. If all outputs of the system are
        smaller than 1 in their units, their largest magnitude replaces this 1.
        """
        assumed = min(1.0, float(magnitudes.max(initial=0.0))) or 1.0
        return np.asarray(np.where(self._nominal > 0.0, self._nominal, assumed))


def forget_rounding(network: Network) -> None:
    """Set the field `least` of each output to zero before a run.

    The field contains the size of the rounding errors in an earlier run.
    """
    network.signals[:] = [replace(signal, least=0.0) for signal in network.signals]


def note_rounding(network: Network, values: Array) -> None:
    """Set the field `least` of each output to the change that rounding errors of inputs can cause.

    For example, a spring force k·(x₁ − x₂) between equal positions is the rounding error of x₁ − x₂
    multiplied by k. The rounding error of an input is assumed to be a billionth of the largest
    magnitude of this input. Outputs of FMUs without directional derivatives remain unchanged.

    Parameters
    ----------
    network : the coupled system, whose FMUs have been started
    values : outputs and pin forces at all communication points of a run, shape (k, n_y + pins)
    """
    sizes = np.max(np.abs(values), axis=0)
    inputs = np.abs(network.factor) * sizes[network.source] + np.abs(network.offset)
    for part, columns, rows in zip(network.parts, network.columns, network.rows, strict=True):
        gains = part.gains()
        if gains is not None:
            least = _NOISE * np.abs(gains) @ inputs[columns]
            own = zip(network.signals[rows], least.tolist(), strict=True)
            network.signals[rows] = [replace(signal, least=size) for signal, size in own]


def _order_of(signal: PortSignal) -> tuple[int, int]:
    """Return the exponent of the length unit and the order of the time derivative of a motion signal.

    The exponent is 1 for positions and 0 for angles. The result for other signals is (0, −1).
    """
    if not is_motion(signal) or signal.base is None:
        return 0, -1
    _, length, time, *_others = signal.base.exponents
    return (length, -time) if length or "rad" in signal.unit or "deg" in signal.unit else (0, -1)


def positions(network: Network) -> dict[int, int]:
    """Map the index of each velocity output to the index of its position output.

    Velocity and position belong to the same FMU and have matching units and names. Examples of
    names are `x` with `v`, `x` with `x_dot`, and `x` with `der(x)`.
    """
    found: dict[int, int] = {}
    for part, rows in zip(network.parts, network.rows, strict=True):
        place = {signal.name: rows.start + k for k, signal in enumerate(part.outputs)}
        for position in part.outputs:
            for name in _rate_names(position.name):
                velocity = place.get(name)
                if velocity is not None and _is_rate(network.signals[velocity], position):
                    found.setdefault(velocity, place[position.name])
    return found


def _rate_names(name: str) -> list[str]:
    port, dot, member = name.rpartition(".")
    usual = [f"{name}_dot", f"der({name})", f"{port}{dot}der({member})"]
    if member in _AXES:
        usual.append(f"{port}{dot}v{member}")
    point, bar, axis = name.rpartition("_")
    if bar and axis in _AXES:
        usual.append(f"{point}_v{axis}")
    return [*usual, f"{port}{dot}{_RATES[member]}"] if member in _RATES else usual


def _is_rate(velocity: PortSignal, position: PortSignal) -> bool:
    if not velocity.unit and not position.unit:
        return True
    rate, base = velocity.base, position.base
    return rate is not None and base is not None and rate.times(SECOND).fits(base)


def bonds(network: Network) -> list[Bond]:
    """Return pairs of a force input and a velocity output of the same FMU whose product is a power.

    Only FMUs with states are considered. The velocity, or the output of the corresponding position,
    is connected to the FMU that drives the force input. If several outputs qualify, only an output
    at the connection point of the input and along the same axis (x, y or z) is used.
    """
    rates, found = positions(network), []
    for part, columns, rows in zip(network.parts, network.columns, network.rows, strict=True):
        if not part.abilities.memory:
            continue
        for column in range(columns.start, columns.stop):
            effort = part.inputs[column - columns.start]
            flows = [
                row
                for row in range(rows.start, rows.stop)
                if network.driven[column]
                and _is_power(effort, network.signals[row])
                and _returns(network, column, {row, rates.get(row, row)})
            ]
            if len(flows) > 1:
                flows = [row for row in flows if _alike(effort, network.signals[row])]
            if len(flows) == 1:
                found.append(Bond(column, flows[0], rates.get(flows[0])))
    return found


def _is_power(effort: PortSignal, flow: PortSignal) -> bool:
    a, b = effort.base, flow.base
    return a is not None and b is not None and a.times(b).fits(WATT)


def _returns(network: Network, column: int, rows: set[int]) -> bool:
    """Return whether an output in `rows` is connected to the source of the input `column`.

    The source is a rigid connection (pin), or the FMU whose output drives the input.
    """
    source = int(network.source[column])
    if source >= network.n_y:
        return bool(rows & set(network.pairs[source - network.n_y].tolist()))
    theirs = network.columns[network.owner(source)]
    return any(network.driven[k] and int(network.source[k]) in rows for k in range(theirs.start, theirs.stop))


def _alike(effort: PortSignal, flow: PortSignal) -> bool:
    """Return whether two signals belong to the same connection point and to the same axis x, y or z."""
    (port, _, member), (other, _, beside) = effort.name.rpartition("."), flow.name.rpartition(".")
    return port == other and member[-1:] == beside[-1:] and member[-1:] in _AXES
