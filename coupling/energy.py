"""Energy that a numerical coupling creates or destroys at the connections that transmit power.

At such a connection, one FMU receives a force and returns a velocity. The product of force and
velocity is the power that this FMU receives. A second FMU receives the motion and returns the
force; it should supply exactly this power. The energy residual is the time integral of the received
power minus the supplied power. The integral uses the inputs that the FMUs have actually received,
interpolated or extrapolated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core.trajectory import Array
from . import courses as polynomials
from .master import Record
from .network import Network
from .ports import Bond, bonds

# An energy residual below this fraction of the largest force times the largest position is a rounding error.
_REST = 1e-9
# Energy residuals are divided by at least this fraction of the largest energy that any connection transmits.
_LEAST = 1e-3


@dataclass(frozen=True)
class EnergyResidual:
    """Energy that the numerical coupling has created at one connection.

    Parameters
    ----------
    where : names of the input and of the output whose product is the power
    created : energy created since the start, J, at the time at which its magnitude is largest;
        negative if energy was destroyed
    turned_over : time integral of the magnitude of the transmitted power, J
    least : lower bound, J, of the energy by which `created` is divided
    """

    where: str
    created: float
    turned_over: float
    least: float = 0.0

    @property
    def relative(self) -> float:
        """Energy created by the numerical coupling, divided by the energy that the connection transmits.

        The transmitted energy is the time integral of the power's magnitude. The divisor is at least `least`.
        """
        size = max(self.turned_over, self.least)
        return self.created / size if size != 0.0 else 0.0


def residuals(network: Network, record: Record) -> list[EnergyResidual]:
    """Return the energy residual of each connection that transmits power.

    The result does not contain a connection if the FMU that produces the force does not receive the
    motion, because the supplied power is then unknown.
    """
    pieces, given = np.array(record.pieces), np.array(record.given)
    lengths = np.diff(np.array(record.times))
    found = []
    pairs, seen = bonds(network), set[frozenset[int]]()
    for bond in pairs:
        source = int(network.source[bond.column])
        both = frozenset((source, bond.row if source < network.n_y else source))
        if both in seen:  # Each connection has two ports, but its energy residual is counted only once.
            continue
        seen.add(both)
        other = _other_side(network, bond, pairs, pieces, given, lengths)
        if other is None:
            continue
        own = polynomials.work(given[:, bond.column], _flow(pieces, bond, lengths))
        created = np.cumsum((own - other) * lengths)
        turned = float(np.sum(np.abs(own) * lengths))
        where = " · ".join(".".join(port) for port in (network.inputs[bond.column], network.outputs[bond.row]))
        worst = float(created[np.argmax(np.abs(created))])
        found.append(EnergyResidual(where, worst, turned, _rest(bond, pieces, given)))
    least = _LEAST * max((residual.turned_over for residual in found), default=0.0)
    return [replace(residual, least=max(least, residual.least)) for residual in found]


def _rest(bond: Bond, pieces: Array, given: Array) -> float:
    """Return the energy, J, below which the energy residual of a connection is a rounding error."""
    if bond.position is None:
        return 0.0
    return _REST * float(np.max(np.abs(given[:, bond.column, 0])) * np.max(np.abs(pieces[:, bond.position, 0])))


def _takes(network: Network, source: int) -> bool:
    """Return whether the FMU of an output has states, or accepts inputs that vary within a step."""
    abilities = network.parts[network.owner(source)].abilities
    return abilities.takes_courses or abilities.memory


def _flow(pieces: Array, bond: Bond, lengths: Array) -> Array:
    """Return polynomials of the velocity at a connection in each communication step, shape (steps, 4).

    If the position is also an output, the velocity is the derivative of the position's polynomial.
    The work of a constant force is then exact.
    """
    if bond.position is None:
        return np.asarray(pieces[:, bond.row])
    return _derivative(pieces[:, bond.position], lengths)


def _derivative(courses: Array, lengths: Array) -> Array:
    found = np.zeros_like(courses)
    found[:, :3] = courses[:, 1:] * np.array([1.0, 2.0, 3.0])
    return np.asarray(found / lengths[:, None])


def _other_side(
    network: Network, bond: Bond, pairs: list[Bond], pieces: Array, given: Array, lengths: Array
) -> Array | None:
    """Return the mean power that the source of a force supplies in each step, W, shape (steps,).

    The source is an FMU that returns the force, or a rigid connection (pin). The result is None if
    the source does not receive the motion of the point at which the force acts.
    """
    source = int(network.source[bond.column])
    if source >= network.n_y:
        partner = next((b for b in pairs if b is not bond and network.source[b.column] == source), None)
        if partner is None:
            return None
        return -polynomials.work(given[:, partner.column], _flow(pieces, partner, lengths))
    columns = network.columns[network.owner(source)]
    for row in (bond.row, bond.position):
        for k in range(columns.start, columns.stop):
            if row is not None and network.driven[k] and network.source[k] == row:
                motion = given[:, k] if _takes(network, source) else network.factor[k] * pieces[:, row]
                motion = motion if row == bond.row else _derivative(motion, lengths)
                factor = network.factor[bond.column] / network.factor[k]
                return np.asarray(factor * polynomials.work(pieces[:, source], motion))
    return None
