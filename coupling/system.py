"""Coupled system of FMUs, opened from an SSP archive (System Structure and Parameterization)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from ..core.errors import DescriptionError, Problem, SolveError
from ..runs.fmpy_runs.opening import read_fmu
from .fmus import FmuPart
from .network import Network, Port, Wire
from .participant import PortSignal
from .ssp import SystemStructure, connections, read_ssp
from .whole import WholeMachine


@dataclass(frozen=True)
class CouplingRemark:
    """A remark about a coupled system for the user of the simulation.

    Parameters
    ----------
    id : kind of the remark, such as `missing_unit`
    where : name of the FMU or connection that the remark concerns
    text : a sentence with numbers and a remedy
    """

    id: str
    where: str
    text: str


@dataclass
class CoupledSystem:
    """A coupled system that is ready to run; `close` terminates its FMUs.

    Parameters
    ----------
    name : name of the system
    network : FMUs and their connections
    start, stop : initial and final time, s; `stop` is None if the archive does not specify it
    step : communication step, s; None if the archive does not specify it
    tolerance : admissible relative error; None if the archive does not specify it
    remarks : remarks for the user
    whole : FMU of the uncut mechanism, or None if the archive does not contain this FMU
    modes : eigenfrequencies of the uncut mechanism in the initial state, in ascending order, Hz
    """

    name: str
    network: Network
    start: float = 0.0
    stop: float | None = None
    step: float | None = None
    tolerance: float | None = None
    remarks: list[CouplingRemark] = field(default_factory=list)
    whole: WholeMachine | None = None
    modes: Sequence[float] = ()

    def close(self) -> None:
        """Terminate all FMUs of the system, and the FMU of the uncut mechanism."""
        for part in self.network.parts:
            part.close()
        if self.whole is not None:
            self.whole.part.close()


def open_system(path: Path, folder: Path) -> CoupledSystem:
    """Unpack an SSP archive into a folder and start the FMUs of its system.

    Raises
    ------
    DescriptionError : with all problems of the archive, its FMUs and its connections
    SolveError : if an FMU cannot be instantiated
    """
    structure = read_ssp(path, folder)
    with ExitStack() as opened:
        parts = [*_parts(structure, folder / "fmus", opened)]
        signals = {(p.name, s.name): s for p in parts for s in (*p.inputs, *p.outputs)}
        problems = [*_missing(parts), *_unknown(structure, signals)]
        if not problems:
            structure.links, problems = connections(structure, signals)
        if problems:
            raise DescriptionError(str(path), problems)
        wires = [Wire(link.source, link.target, link.factor, link.offset) for link in structure.links]
        network = Network(parts, wires, structure.pins)
        whole = _whole(structure, parts, folder, opened)
        opened.pop_all()
    remarks = [*_unchecked(structure), *_unconnected(network)]
    ends = [e.stopTime for e in (p.description.defaultExperiment for p in parts) if e is not None and e.stopTime]
    stop = structure.stop or (float(max(map(float, ends))) if ends else None)
    return CoupledSystem(
        structure.name,
        network,
        structure.start,
        stop,
        structure.step,
        structure.tolerance,
        remarks,
        whole,
        structure.modes,
    )


def _whole(
    structure: SystemStructure, parts: Sequence[FmuPart], folder: Path, opened: ExitStack
) -> WholeMachine | None:
    """Return the FMU of the uncut mechanism, with the parameter values of the other FMUs.

    The uncut mechanism is the whole mechanism as one FMU. The result is None if the archive does
    not contain this FMU. Initial values (parameters `…_start`) are not copied, so this FMU begins
    in its own initial state. The exit stack `opened` terminates the FMU.

    Raises
    ------
    DescriptionError : if the FMU cannot be read, or if an output to be compared does not exist
    """
    entry = structure.whole
    if entry is None:
        return None
    known = {v.name for v in read_fmu(entry.source).modelVariables if v.causality == "parameter"}
    values = {name: value for e in structure.elements.values() for name, value in e.parameters.items()}
    kept = {name: value for name, value in values.items() if name in known and not name.endswith("_start")}
    part = FmuPart("Whole", entry.source, folder / "whole", kept)
    opened.callback(part.close)
    outputs = {(p.name, signal.name) for p in parts for signal in p.outputs}
    own = {signal.name for signal in part.outputs}
    lost = [".".join(port) for port, _ in entry.same if port not in outputs]
    lost += [f"Whole.{name}" for _, name in entry.same if name not in own]
    if lost:
        names = ", ".join(lost)
        raise DescriptionError("Whole", f"expected outputs {names} for the comparison, found no such outputs")
    return WholeMachine(part, entry.exact, entry.same)


def _parts(structure: SystemStructure, folder: Path, opened: ExitStack) -> Iterator[FmuPart]:
    fatal: dict[str, SolveError] = {}
    for k, element in enumerate(structure.elements.values()):
        period = {"period": structure.periods[element.name]} if element.name in structure.periods else {}
        part = FmuPart(element.name, element.source, folder / str(k), element.parameters, fatal, **period)
        opened.callback(part.close)
        yield part


def _missing(parts: Sequence[FmuPart]) -> Iterator[Problem]:
    if not parts:
        yield Problem("", "expected at least one FMU in the system, found none")
    elif not any(part.outputs for part in parts):
        yield Problem("", "expected at least one FMU with a numerical output, found none")


def _unknown(structure: SystemStructure, signals: Mapping[Port, PortSignal]) -> Iterator[Problem]:
    for link in structure.links:
        for port in (link.source, link.target):
            if port not in signals:
                known = ", ".join(name for element, name in signals if element == port[0]) or "none"
                text = f"expected an input or output of the FMU, found no {port[1]}; known are: {known}"
                yield Problem(f"connector {'.'.join(port)}", text)


def _unchecked(structure: SystemStructure) -> Iterator[CouplingRemark]:
    for link in structure.links:
        if link.unchecked is not None:
            where = f"{'.'.join(link.source)} → {'.'.join(link.target)}"
            name = ".".join(link.unchecked)
            text = f"{name} has no known unit, so the units of the connection cannot be checked; specify the unit"
            yield CouplingRemark("missing_unit", where, text)


def _unconnected(network: Network) -> Iterator[CouplingRemark]:
    for column, port in enumerate(network.inputs):
        if not network.driven[column]:
            value = network.offset[column]
            text = f"input {'.'.join(port)} is not connected and keeps its start value, {value:g}; connect it"
            yield CouplingRemark("unconnected_input", ".".join(port), text)
