"""A coupled system from an SSP archive: FMUs as parts, connections as wires, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..core.errors import DescriptionError, Problem
from .fmus import FmuPart
from .network import Network, Wire
from .participant import PortSignal
from .ssp import SystemStructure, read_ssp
from .units import conversion


@dataclass(frozen=True)
class CouplingRemark:
    """A fact about a coupling that its user should know.

    Parameters
    ----------
    id : kind of the fact, such as `missing_unit`
    where : element or connection
    text : a sentence with numbers and a remedy
    """

    id: str
    where: str
    text: str


@dataclass
class CoupledSystem:
    """A system that is ready to run; `close` ends its FMUs."""

    name: str
    network: Network
    start: float = 0.0
    stop: float | None = None
    step: float | None = None
    tolerance: float | None = None
    remarks: list[CouplingRemark] = field(default_factory=list)

    def close(self) -> None:
        """End all parts."""
        for part in self.network.parts:
            part.close()


def open_system(path: Path, folder: Path) -> CoupledSystem:
    """Open a system from an archive, which is unpacked into a folder.

    Raises
    ------
    DescriptionError : with all problems of the archive, its FMUs and its connections
    """
    structure = read_ssp(path, folder)
    parts = []
    for element in structure.elements.values():
        period = {"period": structure.periods[element.name]} if element.name in structure.periods else {}
        parts.append(FmuPart(element.name, element.source, element.parameters, **period))
    if not parts:
        raise DescriptionError(str(path), "expected at least one FMU in the system, found none")
    signals = {(p.name, s.name): s for p in parts for s in (*p.inputs, *p.outputs)}
    problems, remarks = [*_unknown(structure, signals)], list[CouplingRemark]()
    wires = []
    if not problems:
        wires = [_wire(structure, link, signals, problems, remarks) for link in structure.links]
    if problems:
        for part in parts:
            part.close()
        raise DescriptionError(str(path), problems)
    network = Network(parts, wires, structure.pins)
    remarks += _unconnected(network)
    ends = [e.stopTime for e in (p.description.defaultExperiment for p in parts) if e is not None and e.stopTime]
    stop = structure.stop or (float(max(map(float, ends))) if ends else None)
    return CoupledSystem(
        structure.name, network, structure.start, stop, structure.step, structure.tolerance, remarks
    )


def _unknown(structure: SystemStructure, signals: dict[tuple[str, str], PortSignal]) -> Iterator[Problem]:
    for link in structure.links:
        for port in (link.source, link.target):
            if port not in signals:
                known = ", ".join(name for element, name in signals if element == port[0]) or "none"
                text = f"expected an input or output of the FMU, found no {port[1]}; known are: {known}"
                yield Problem(f"connector {'.'.join(port)}", text)


def _wire(
    structure: SystemStructure,
    link: object,
    signals: dict[tuple[str, str], PortSignal],
    problems: list[Problem],
    remarks: list[CouplingRemark],
) -> Wire:
    """Return the wire of a link; units of variables count if their connectors have none."""
    source, target = link.source, link.target  # type: ignore[attr-defined]
    factor, offset = link.factor, link.offset  # type: ignore[attr-defined]
    where = f"{'.'.join(source)} → {'.'.join(target)}"
    given = [structure.elements[port[0]].units.get(port[1], "") for port in (source, target)]
    units = [signals[port].base for port in (source, target)]
    if not all(given) and not link.suppressed:  # type: ignore[attr-defined]
        if units[0] is not None and units[1] is not None:
            if not units[0].fits(units[1]):
                names = [signals[port].unit for port in (source, target)]
                text = f"expected a unit that converts to {names[1]}, got {names[0]}"
                problems.append(Problem(f"connection {where}", text))
            else:
                scale, shift = conversion(units[0], units[1])
                offset, factor = offset + factor * shift, factor * scale
        elif units[0] is not None or units[1] is not None:
            missing = source if units[0] is None else target
            text = f"{'.'.join(missing)} has no unit, so the connection cannot be checked; give it one"
            remarks.append(CouplingRemark("missing_unit", where, text))
    return Wire(source, target, factor, offset)


def _unconnected(network: Network) -> Iterator[CouplingRemark]:
    for column, port in enumerate(network.inputs):
        if not network.driven[column]:
            value = network.offset[column]
            text = f"input {'.'.join(port)} has no driver and keeps its start value, {value:g}; connect it"
            yield CouplingRemark("unconnected_input", ".".join(port), text)
