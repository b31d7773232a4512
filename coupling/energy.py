"""Energy that a coupling creates or loses at the connections where power flows.

The product of the force on a part and the velocity that it returns is a power. The other side of the connection, a
part that gets the motion and returns the force, should take exactly that power. The residual is the integral of
the difference, with the input courses as the parts got them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core.trajectory import Array
from . import courses as polynomials
from .master import Record
from .network import Network
from .ports import Bond, bonds

_LEAST = 1e-3  # of the largest energy turned over at a connection: the least one that counts


@dataclass(frozen=True)
class EnergyResidual:
    """Energy of one connection.

    Parameters
    ----------
    where : input and output whose product is the power
    created : energy that the coupling has created since the start, at its largest magnitude, J
    turned_over : energy that has gone through the connection, to and fro, J
    least : energy below which a turned over energy is rounding, J
    """

    where: str
    created: float
    turned_over: float
    least: float = 0.0

    @property
    def relative(self) -> float:
        """Created energy relative to that turned over."""
        size = max(self.turned_over, self.least)
        return self.created / size if size != 0.0 else 0.0


def residuals(network: Network, record: Record) -> list[EnergyResidual]:
    """Residual of each connection where power flows and both sides are known."""
    pieces, given = np.array(record.pieces), np.array(record.given)
    lengths = np.diff(np.array(record.times))
    found = []
    pairs, seen = bonds(network), set[frozenset[int]]()
    for bond in pairs:
        source = int(network.source[bond.column])
        both = frozenset((source, bond.row if source < network.n_y else source))
        if both in seen:  # the same connection from its other side
            continue
        seen.add(both)
        other = _other_side(network, bond, pairs, pieces, given, lengths)
        if other is None:
            continue
        own = polynomials.work(given[:, bond.column], _flow(pieces, bond, lengths))
        created = np.cumsum((own - other) * lengths)
        turned = float(np.sum(np.abs(own) * lengths))
        where = " · ".join(".".join(port) for port in (network.inputs[bond.column], network.outputs[bond.row]))
        found.append(EnergyResidual(where, float(created[np.argmax(np.abs(created))]), turned))
    least = _LEAST * max((residual.turned_over for residual in found), default=0.0)
    return [replace(residual, least=least) for residual in found]


def _takes(network: Network, source: int) -> bool:
    """Whether the part of an output is evaluated over the step, and not at its end alone."""
    abilities = network.parts[network.owner(source)].abilities
    return abilities.takes_courses or abilities.memory


def _flow(pieces: Array, bond: Bond, lengths: Array) -> Array:
    """Courses of the flow; the derivative of a known position makes the work of a constant force exact."""
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
    """Power that the other side gives, mean over each step, W; None if it returns no force for this motion."""
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
