"""Structure of a coupled system as arrays: sources of inputs, rigid connections, and groups of FMUs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..core.errors import DescriptionError, Problem
from ..core.trajectory import Array
from .participant import Participant, PortSignal

Port = tuple[str, str]  # A port consists of the name of an FMU and the name of one of its inputs or outputs.


def connection_to(port: Port) -> str:
    """Return the words that locate a connection in error messages, by the input that the connection ends at."""
    return f"connection to {'.'.join(port)}"


@dataclass(frozen=True)
class Wire:
    """A connection from an output to an input: input = factor · output + offset.

    Factor and offset contain the conversion of units and the linear transformation in the archive.
    """

    source: Port
    target: Port
    factor: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Pin:
    """A rigid connection: a pair of opposite forces makes two positions equal.

    Parameters
    ----------
    first, second : outputs that must be equal, positions in m or angles in rad
    force, reaction : inputs for the forces on the first and on the second FMU, N or N·m
    joint : name of the rigid joint to which the connection belongs, or an empty string. A rigid
        joint has three consecutive connections (along x, y and z) for each of its points.
    """

    first: Port
    second: Port
    force: Port
    reaction: Port
    joint: str = ""


@dataclass(frozen=True)
class CoupledGroup:
    """FMUs that depend on each other within a communication step, in the order of evaluation.

    Parameters
    ----------
    parts : indices of the FMUs
    feedback : indices of the outputs that an FMU needs before these outputs are computed in the same step
    pins : indices of the forces of rigid connections (pins). Outputs and pin forces are numbered
        together, outputs first.
    """

    parts: tuple[int, ...]
    feedback: NDArray[np.intp]
    pins: NDArray[np.intp]

    @property
    def loops(self) -> bool:
        """Whether an output or a pin force of the group depends on itself within a communication step."""
        return len(self.feedback) + len(self.pins) > 0


@dataclass(eq=False)
class Network:
    """The FMUs of a coupled system and their connections.

    An array of outputs contains the n_y outputs of all FMUs, in the order of the FMUs. An array of
    inputs contains the n_u inputs of all FMUs in the same order. A pin is a rigid connection of two
    positions; the pin forces follow the outputs.
    """

    parts: Sequence[Participant]
    wires: Sequence[Wire]
    pins: Sequence[Pin] = ()
    columns: list[slice] = field(init=False)
    rows: list[slice] = field(init=False)

    def __post_init__(self) -> None:
        self.columns = _slices([len(p.inputs) for p in self.parts])
        self.rows = _slices([len(p.outputs) for p in self.parts])
        self.n_u, self.n_y = self.columns[-1].stop, self.rows[-1].stop
        self.inputs = [(p.name, s.name) for p in self.parts for s in p.inputs]
        self.outputs = [(p.name, s.name) for p in self.parts for s in p.outputs]
        self.signals: list[PortSignal] = [s for p in self.parts for s in p.outputs]
        self._check_names()
        self._connect()
        self.groups = self._groups()
        self.alike = self._signals_of_one_unit()

    def _check_names(self) -> None:
        problems = [
            Problem(
                connection_to(port),
                f"expected the name of an FMU and of one of its {kind}s, but there is no such {kind}",
            )
            for kind, known, ports in (
                (
                    "output",
                    self.outputs,
                    [w.source for w in self.wires] + [x for p in self.pins for x in (p.first, p.second)],
                ),
                (
                    "input",
                    self.inputs,
                    [w.target for w in self.wires] + [x for p in self.pins for x in (p.force, p.reaction)],
                ),
            )
            for port in ports
            if port not in known
        ]
        if problems:
            raise DescriptionError("system", problems)

    def _connect(self) -> None:
        row, column = ({port: k for k, port in enumerate(ports)} for ports in (self.outputs, self.inputs))
        self.source = np.zeros(self.n_u, dtype=np.intp)
        self.factor = np.zeros(self.n_u)
        self.starts = np.array([s.start for p in self.parts for s in p.inputs])
        self.offset = self.starts.copy()
        for wire in self.wires:
            k = column[wire.target]
            self.source[k], self.factor[k], self.offset[k] = row[wire.source], wire.factor, wire.offset
        self.pairs = np.array([[row[p.first], row[p.second]] for p in self.pins], dtype=np.intp).reshape(-1, 2)
        for k, pin in enumerate(self.pins):
            for port, sign in ((pin.force, 1.0), (pin.reaction, -1.0)):
                j = column[port]
                self.source[j], self.factor[j], self.offset[j] = self.n_y + k, sign, 0.0
        self.driven = self.factor != 0.0
        self._feeds = [(self.factor[c, None], self.source[c], self.offset[c]) for c in self.columns]

    def _signals_of_one_unit(self) -> list[NDArray[np.intp]]:
        units = np.array([signal.unit for signal in self.signals])
        return [np.flatnonzero(units == unit) for unit in dict.fromkeys(units.tolist())]

    @property
    def needs_equal_steps(self) -> list[str]:
        """Names of the FMUs that require communication steps of equal length.

        The names do not include sampled FMUs, such as digital controllers, because these FMUs are
        evaluated at their own sample times.
        """
        return [p.name for p in self.parts if not p.abilities.varies and p.abilities.period is None]

    def given(self, part: int, courses: Array) -> Array:
        """Return the polynomials of the inputs of one FMU over a step, shape (n_u, 4) for n_u inputs.

        Parameters
        ----------
        part : index of the FMU
        courses : polynomials of all n_y outputs and all pin forces over the step, shape (n_y +
            pins, 4)
        """
        factor, source, offset = self._feeds[part]
        found = factor * courses[source]
        found[:, 0] += offset
        return np.asarray(found)

    def inputs_at(self, outputs: Array) -> Array:
        """Return all n_u inputs, shape (n_u,), from the outputs and pin forces, shape (n_y + pins,)."""
        return np.asarray(self.factor * outputs[self.source] + self.offset)

    def label(self, row: int) -> str:
        """Return the name of an output, or of the force in a rigid connection (pin), for messages."""
        if row < self.n_y:
            return ".".join(self.outputs[row])
        return f"the force of the pin at {'.'.join(self.pins[row - self.n_y].first)}"

    def owner(self, row: int) -> int:
        """Return the index of the FMU that an output belongs to."""
        return next(k for k, rows in enumerate(self.rows) if rows.start <= row < rows.stop)

    def _groups(self) -> list[CoupledGroup]:
        edges = self._edges()
        n = len(self.parts)
        begin, end = (np.array([e[k] for e in edges], dtype=np.intp) for k in (0, 1))
        graph = coo_array((np.ones(len(edges)), (begin, end)), shape=(n, n))
        count, label = connected_components(graph, connection="strong")
        needs: dict[int, set[int]] = {k: set() for k in range(count)}
        for a, b in edges:
            if label[a] != label[b]:
                needs[int(label[b])].add(int(label[a]))
        order = TopologicalSorter(needs).static_order()
        return [self._group([k for k in range(n) if label[k] == g]) for g in order]

    def _edges(self) -> list[tuple[int, int]]:
        """Return pairs (a, b) of FMU indices: FMU b needs outputs of FMU a within a communication step.

        Discrete outputs are constant over a step, so they cause no dependency. A rigid connection
        (pin) causes a dependency in both directions.
        """
        owner = [k for k, rows in enumerate(self.rows) for _ in range(rows.stop - rows.start)]
        found = []
        for part, columns in enumerate(self.columns):
            for k in range(columns.start, columns.stop):
                if self.driven[k] and self.source[k] < self.n_y and not self.signals[self.source[k]].discrete:
                    found.append((owner[self.source[k]], part))
        for a, b in self.pairs:
            found += [(owner[a], owner[b]), (owner[b], owner[a])]
        return found

    def _group(self, members: list[int]) -> CoupledGroup:
        """Return a group of FMUs in the order of evaluation.

        FMUs with states come first. FMUs without states come last, because their inputs are the outputs
        that the FMUs with states have at the end of the step.
        """
        order = sorted(members, key=lambda k: not self.parts[k].abilities.memory)
        place = {part: k for k, part in enumerate(order)}
        feedback = set()
        for part in order:
            for k in range(self.columns[part].start, self.columns[part].stop):
                row = int(self.source[k])
                if self.driven[k] and row < self.n_y and not self.signals[row].discrete:
                    source = self.owner(row)
                    if place.get(source, -1) >= place[part]:
                        feedback.add(row)
        pins = [self.n_y + k for k, (a, _) in enumerate(self.pairs) if self.owner(int(a)) in place]
        return CoupledGroup(tuple(order), np.array(sorted(feedback), dtype=np.intp), np.array(pins, dtype=np.intp))


def _slices(lengths: Sequence[int]) -> list[slice]:
    stops = np.cumsum(lengths).tolist()
    return [slice(stop - length, stop) for stop, length in zip(stops, lengths, strict=True)]
