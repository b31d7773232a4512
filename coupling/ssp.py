"""Reader of SSP archives (System Structure and Parameterization) of versions 1.0 and 2.0.

Nested systems are flattened: `inner.motor` is the element `motor` of the system `inner`. The reader
supports FMUs, linear transformations, unit conversions, parameter sets and parameter mappings.
Parameter sets and mappings may be inside the description or in separate files. The reader does not
support nested archives, signal dictionaries, arrays, clocks and structural parameters. Coupling
settings outside the standard are read from an annotation of the type `org.gpmelica.coupling`. The
step may also be in an annotation of OMSimulator or OSP (Open Simulation Platform).
"""

from __future__ import annotations

import math
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

from ..core.errors import DescriptionError, Problem
from ..core.file_kinds import why
from ..exchange.xml_file import read_xml
from .network import Pin, Port, connection_to
from .participant import PortSignal
from .units import PhysicalUnit, by_name, conversion, defined

ANNOTATION = "org.gpmelica.coupling"
_FMU = "application/x-fmu-sharedlibrary"
# Signals of these types are not supported; each key is the XML element that declares the type.
_UNSUPPORTED = {
    "Dimension": "an array",
    "Clock": "a clock or a clocked variable",
    "Binary": "binary data",
    "String": "a text",
}


@dataclass
class SystemElement:
    """An FMU of a coupled system.

    Parameters
    ----------
    name : names of the enclosing systems and of the element, separated by dots
    source : path of the FMU
    parameters : start values by name of the variable
    """

    name: str
    source: Path
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SystemConnection:
    """A connection between two FMUs after nested systems were flattened: input = factor · output + offset.

    Parameters
    ----------
    source : output at which the connection begins
    target : input at which the connection ends
    factor, offset : result of all unit conversions and linear transformations along the connection
    unchecked : `source` or `target` if this connector has no known unit, although another connector
        along the connection has one; otherwise None
    """

    source: Port
    target: Port
    factor: float
    offset: float
    unchecked: Port | None = None


@dataclass(frozen=True)
class Hop:
    """A connection between two connectors, as in the SSP archive.

    The connectors can belong to nested systems.

    Parameters
    ----------
    source : connector at which the connection starts
    factor, offset : linear transformation of the connection
    suppressed : whether the archive forbids a unit conversion in this connection
    """

    source: Port
    factor: float
    offset: float
    suppressed: bool


@dataclass(frozen=True)
class WholeEntry:
    """Annotation of an SSP archive about the FMU of the uncut mechanism.

    Parameters
    ----------
    source : path of the FMU
    exact : whether cut and uncut mechanism have the same equations; False if spring-dampers replace
        rigid joints
    same : pairs of an output of the coupled FMUs and the variable of the uncut mechanism that should
        have equal values
    """

    source: Path
    exact: bool
    same: Sequence[tuple[Port, str]]


@dataclass
class SystemStructure:
    """A coupled system as an SSP archive describes it.

    Parameters
    ----------
    elements : FMUs by the names of their SSP elements
    links : connections from FMU to FMU, after nested systems were flattened
    pins : pairs of positions of two FMUs that must be equal
    hops : connections as in the archive; the key is the connector at which the connection ends
    connectors : name of each connector's unit, or an empty string
    units : definition of each unit, by name of the unit
    start, stop : initial and final time of the default experiment, s
    step : communication step from an annotation, s
    tolerance : admissible relative error from an annotation
    periods : sample periods, s, by name of the sampled element
    whole : annotation about the FMU of the uncut mechanism; None if the archive does not contain
        this FMU
    modes : eigenfrequencies of the uncut mechanism in the initial state, in ascending order, Hz
    """

    name: str
    source: str
    elements: dict[str, SystemElement] = field(default_factory=dict)
    links: list[SystemConnection] = field(default_factory=list)
    pins: list[Pin] = field(default_factory=list)
    hops: dict[Port, Hop] = field(default_factory=dict)
    connectors: dict[Port, str] = field(default_factory=dict)
    units: dict[str, PhysicalUnit] = field(default_factory=dict)
    start: float = 0.0
    stop: float | None = None
    step: float | None = None
    tolerance: float | None = None
    periods: dict[str, float] = field(default_factory=dict)
    whole: WholeEntry | None = None
    modes: Sequence[float] = ()


def read_ssp(path: Path, folder: Path) -> SystemStructure:
    """Unpack an SSP archive into a folder and read its `SystemStructure.ssd`.

    Raises
    ------
    DescriptionError : with all problems found in the archive
    """
    try:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
    except (OSError, zipfile.BadZipFile) as error:
        raise DescriptionError(str(path), f"is not an SSP archive: {why(error)}") from None
    main = folder / "SystemStructure.ssd"
    if not main.exists():
        raise DescriptionError(
            str(path), "has no SystemStructure.ssd; expected an SSP archive of version 1.0 or 2.0"
        )
    return _Reader(str(path), folder).read(read_xml(main))


def _local(node: Any) -> str:
    return str(node.tag).rpartition("}")[2]


def _children(node: Any, *path: str) -> Iterator[Any]:
    """Yield the XML elements at the end of a path of local names.

    Each name in the path selects children of the previously selected elements.
    """
    if not path:
        yield node
        return
    for child in node:
        if _local(child) == path[0]:
            yield from _children(child, *path[1:])


class _Reader:
    """Reader of one system structure description (SSD) that reports all its problems in one error."""

    def __init__(self, source: str, folder: Path) -> None:
        self._folder, self._problems, self._systems = folder, list[Problem](), {""}
        self._unsupported: dict[Port, str] = {}
        self._found = SystemStructure("", source)

    def read(self, root: Any) -> SystemStructure:
        found = self._found
        found.name = root.get("name", "")
        for unit in _children(root, "Units", "Unit"):
            base = next(_children(unit, "BaseUnit"), None)
            if base is not None:
                found.units[unit.get("name")] = self._base_unit(unit.get("name"), base)
        for experiment in _children(root, "DefaultExperiment"):
            found.start = self._number(experiment, "startTime", "default experiment") or 0.0
            found.stop = self._number(experiment, "stopTime", "default experiment")
        system = next(_children(root, "System"), None)
        if system is None:
            raise DescriptionError(found.source, "expected a System in SystemStructure.ssd, found none")
        self._system(system, "")
        for node in root.iter():
            if isinstance(node.tag, str):
                self._annotation(node)
        self._problems += [*self._nowhere(), *self._unsupported_signals(), *self._uneven_joints()]
        found.links, unfitting = connections(found, {})
        if self._problems or unfitting:
            raise DescriptionError(found.source, [*self._problems, *unfitting])
        return found

    def _nowhere(self) -> Iterator[Problem]:
        places = {*self._found.elements, *self._systems}
        for target, hop in self._found.hops.items():
            for element, _ in (hop.source, target):
                if element not in places:
                    known = ", ".join(sorted(places - {""})) or "none"
                    text = f"expected an element of the system, found no {element}; known are: {known}"
                    yield Problem(f"connection from {'.'.join(hop.source)} to {'.'.join(target)}", text)

    def _unsupported_signals(self) -> Iterator[Problem]:
        ports = dict.fromkeys(port for target, hop in self._found.hops.items() for port in (hop.source, target))
        for port in ports:
            if port in self._unsupported:
                yield Problem(
                    f"connector {'.'.join(port)}",
                    f"expected a scalar number, Boolean or enumeration, got {self._unsupported[port]}; connect"
                    " scalar variables instead",
                )

    def _uneven_joints(self) -> Iterator[Problem]:
        for joint, count in Counter(pin.joint for pin in self._found.pins if pin.joint).items():
            if count > 3 and count not in (6, 9):
                text = f"expected pins along x, y and z of at most three points, found {count} pins"
                yield Problem(f"joint {joint}", text)

    def _number(self, node: Any, key: str, where: str, least: float = -math.inf) -> float | None:
        """Return an attribute that is a finite number above `least`; None if it is missing or invalid."""
        text = node.get(key)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isfinite(value) and value > least:
            return value
        expected = "a number" if least == -math.inf else f"a number above {least:g}"
        self._problems.append(Problem(f"{where}, {key}", f"expected {expected}, got {text}; correct the value"))
        return None

    def _linear(self, node: Any, where: str) -> tuple[float, float]:
        linear = next(_children(node, "LinearTransformation"), None)
        if linear is None:
            return 1.0, 0.0
        factor, offset = (self._number(linear, key, where) for key in ("factor", "offset"))
        return 1.0 if factor is None else factor, offset or 0.0

    def _base_unit(self, name: str, base: Any) -> PhysicalUnit:
        numbers = {key: self._number(base, key, f"unit {name}") for key in base.attrib}
        return defined(SimpleNamespace(**numbers))

    def _system(self, node: Any, prefix: str) -> None:
        for child in (c for elements in _children(node, "Elements") for c in elements):
            name = prefix + child.get("name", "")
            if name in self._found.elements:
                self._problems.append(Problem(f"element {name}", "expected a unique name; rename the element"))
            self._connectors_of(child, name)
            if _local(child) == "System":
                self._systems.add(name)
                self._system(child, name + ".")
            elif _local(child) == "Component":
                self._component(child, name)
            else:
                text = "is not supported; expected a Component or a System"
                self._problems.append(Problem(f"element {name}", f"{_local(child)} {text}"))
        self._connectors_of(node, prefix.rstrip("."))
        for connection in _children(node, "Connections", "Connection"):
            self._connection(connection, prefix)
        self._bindings(node, prefix)

    def _connectors_of(self, node: Any, name: str) -> None:
        for connector in _children(node, "Connectors", "Connector"):
            port = name, connector.get("name")
            self._found.connectors[port] = next((t.get("unit", "") for t in connector if t.get("unit")), "")
            kinds = [_UNSUPPORTED[_local(child)] for child in connector if _local(child) in _UNSUPPORTED]
            self._unsupported |= dict.fromkeys([port], kinds[0]) if kinds else {}

    def _component(self, node: Any, name: str) -> None:
        kind, source = node.get("type", _FMU), node.get("source", "")
        if kind != _FMU or source.endswith(".ssp"):
            text = f"expected an FMU ({_FMU}), got {kind}; nested archives and descriptions are not supported"
            self._problems.append(Problem(f"element {name}", text))
            self._found.elements[name] = SystemElement(name, self._folder)
        else:
            self._found.elements[name] = SystemElement(name, self._resource(source, f"element {name}"))
        self._connectors_of(node, name)
        self._bindings(node, name + ".")

    def _connection(self, node: Any, prefix: str) -> None:
        ends = []
        for side in ("start", "end"):
            element = node.get(f"{side}Element")
            ends.append((prefix + element if element else prefix.rstrip("."), node.get(f"{side}Connector")))
        source, target = ends
        factor, offset = self._linear(node, connection_to(target))
        for kind in ("Boolean", "Integer", "Enumeration"):
            if next(_children(node, f"{kind}MappingTransformation"), None) is not None:
                text = f"{kind}MappingTransformation is not supported; use a linear transformation or none"
                self._problems.append(Problem(connection_to(target), text))
        hops = self._found.hops
        if target in hops:
            first = ".".join(hops[target].source)
            text = f"is connected to two outputs, {first} and {'.'.join(source)}; remove one of the connections"
            self._problems.append(Problem(f"input {'.'.join(target)}", text))
        suppressed = node.get("suppressUnitConversion", "false") in ("true", "1")
        hops[target] = Hop(source, factor, offset, suppressed)

    def _bindings(self, node: Any, prefix: str) -> None:
        for binding in _children(node, "ParameterBindings", "ParameterBinding"):
            inline = next(_children(binding, "ParameterValues", "ParameterSet"), None)
            parameters = inline if inline is not None else self._file(binding.get("source"))
            if parameters is None:
                continue
            values = dict(self._values(parameters))
            mapping = next(_children(binding, "ParameterMapping"), None)
            if mapping is not None:
                values = self._mapped(values, self._mapping(mapping))
            for name, value in values.items():
                self._assign(prefix + (binding.get("prefix") or "") + name, value)

    def _values(self, parameters: Any) -> Iterator[tuple[str, Any]]:
        for parameter in _children(parameters, "Parameters", "Parameter"):
            for value in parameter:
                text = value.get("value")
                if text is not None:
                    yield parameter.get("name"), self._python(_local(value), text, parameter.get("name"))

    def _python(self, kind: str, text: str, name: str) -> Any:
        if kind == "String":
            return text
        if len(text.split()) > 1:
            problem = f"expected one value, got the array {text}; arrays are not supported"
            self._problems.append(Problem(f"parameter {name}", problem))
            return None
        if kind == "Boolean":
            return text in ("true", "1")
        value = self._number({"value": text}, "value", f"parameter {name}")
        whole = "Int" in kind and value is not None and value == round(value)
        return int(text) if whole and text.strip().lstrip("+-").isdecimal() else value

    def _mapped(self, values: Mapping[str, Any], mapping: Any) -> dict[str, Any]:
        """Apply a parameter mapping, which renames and transforms values; other values stay unchanged."""
        entries = [*_children(mapping, "MappingEntry")]
        sources = {entry.get("source") for entry in entries}
        found = {name: value for name, value in values.items() if name not in sources}
        for entry in entries:
            source, target = entry.get("source"), entry.get("target")
            if source in values:
                factor, offset = self._linear(entry, f"mapping of {source}")
                value = values[source]
                found[target] = value if (factor, offset) == (1.0, 0.0) else value * factor + offset
        return found

    def _mapping(self, node: Any) -> Any:
        inner = next(_children(node, "ParameterMapping"), None)
        if inner is not None:
            return inner
        return self._file(node.get("source")) if node.get("source") else node

    def _file(self, name: str | None) -> Any:
        path = self._resource(name, "values of parameters")
        return read_xml(path) if path.is_file() else None

    def _resource(self, name: str | None, where: str) -> Path:
        path = self._folder / unquote(name or "")
        if path.is_file() and path.resolve().is_relative_to(self._folder.resolve()):
            return path
        text = f"expected the file {name} in the archive, found none"
        self._problems.append(Problem(where, text))
        return self._folder / "none"

    def _assign(self, name: str, value: Any) -> None:
        """Set the start value of a parameter with the name `ELEMENT.VARIABLE`.

        Names of elements may contain dots. If several elements match, the element with the longest name
        is used.
        """
        owners = [e for e in self._found.elements if name.startswith(e + ".")]
        if owners:
            owner = max(owners, key=len)
            self._found.elements[owner].parameters[name[len(owner) + 1 :]] = value

    def _annotation(self, node: Any) -> None:
        found, tag = self._found, _local(node)
        if tag == "FixedStepMaster":  # OMSimulator stores its fixed step in the annotation FixedStepMaster.
            found.step = self._number(node, "stepSize", tag, 0.0) or found.step
        elif tag == "FixedStepAlgorithm":
            found.step = self._number(node, "baseStepSize", tag, 0.0) or found.step
        elif tag == "Annotation" and node.get("type") == ANNOTATION:
            for child in node.iter():
                self._coupling(child)

    def _coupling(self, node: Any) -> None:
        found, tag = self._found, _local(node)
        if tag == "Coupling":
            found.step = self._number(node, "step", tag, 0.0) or found.step
            found.tolerance = self._number(node, "tolerance", tag, 0.0) or found.tolerance
        elif tag == "Sampled":
            self._sampled(node)
        elif tag == "Whole":
            same = [
                (self._port(child.get("signal", "")), child.get("whole", "")) for child in _children(node, "Same")
            ]
            exact = node.get("exact", "true") in ("true", "1")
            found.whole = WholeEntry(self._resource(node.get("source"), "Whole"), exact, same)
        elif tag == "Modes":
            found.modes = [*self._frequencies(node)]
        elif tag == "Pin":
            first, second, force, reaction = (
                self._port(node.get(k, "")) for k in ("first", "second", "force", "reaction")
            )
            found.pins.append(Pin(first, second, force, reaction, node.get("joint", "")))

    def _frequencies(self, node: Any) -> Iterator[float]:
        for text in node.get("frequencies", "").split():
            value = self._number({"frequencies": text}, "frequencies", "Modes", 0.0)
            if value is not None:
                yield value

    def _sampled(self, node: Any) -> None:
        element, where = node.get("element", ""), f"Sampled {node.get('element', '')}"
        period = self._number(node, "period", where, 0.0)
        if element not in self._found.elements:
            known = ", ".join(self._found.elements) or "none"
            text = f"expected an element of the system, found none of this name; known are: {known}"
            self._problems.append(Problem(where, text))
        elif node.get("period") is None:
            self._problems.append(
                Problem(where, "expected the attribute period, i.e. a sample period in s, found none; add it")
            )
        elif period is not None:
            self._found.periods[element] = period

    def _port(self, name: str) -> Port:
        owners = [e for e in self._found.elements if name.startswith(e + ".")]
        if not owners:
            self._problems.append(
                Problem(f"pin {name}", "expected ELEMENT.VARIABLE with the name of an FMU in the system")
            )
            return "", name
        owner = max(owners, key=len)
        return owner, name[len(owner) + 1 :]


def connections(
    structure: SystemStructure, signals: Mapping[Port, PortSignal]
) -> tuple[list[SystemConnection], list[Problem]]:
    """Return the connections between FMUs, and an error message for each pair of incompatible units.

    A connection between two FMUs may pass through connectors of nested systems. If a connector of
    an FMU has no unit, the unit of the FMU variable is used. If a connector of a nested system has
    no unit, the unit of the value remains unchanged.

    Parameters
    ----------
    structure : coupled system as in the archive
    signals : variables of the FMUs, or an empty mapping if the FMUs have not been read
    """
    found, problems = list[SystemConnection](), list[Problem]()
    for target in structure.hops:
        route = _route(structure, target)
        if target[0] in structure.elements and route[0][0].source[0] in structure.elements:
            found.append(_along(route, _Units(structure, signals), problems))
    return found, problems


def _route(structure: SystemStructure, target: Port) -> list[tuple[Hop, Port]]:
    """Return the chain of connections that ends at the connector `target`.

    The chain begins at a connector to which no connection leads. The result is a list of pairs: a
    connection, and the connector at which this connection ends.
    """
    found, port = list[tuple[Hop, Port]](), target
    while port in structure.hops and all(port != passed for _, passed in found):
        found.insert(0, (structure.hops[port], port))
        port = structure.hops[port].source
    return found


@dataclass(frozen=True)
class _Units:
    """Units of connectors; if a connector has no unit, the unit of the FMU variable is used."""

    structure: SystemStructure
    signals: Mapping[Port, PortSignal]

    def name(self, port: Port) -> str:
        """Return the name of the unit of a connector, or an empty string if it has no unit."""
        variable = self.signals.get(port)
        return self.structure.connectors.get(port, "") or ("" if variable is None else variable.unit)

    def at(self, port: Port) -> PhysicalUnit | None:
        """Return the unit of a connector; None if the unit is missing or unknown."""
        name, variable = self.structure.connectors.get(port, ""), self.signals.get(port)
        if name in self.structure.units:
            return self.structure.units[name]
        if variable is not None and name in ("", variable.unit):
            return variable.base
        return by_name(name) if name else None


def _along(route: list[tuple[Hop, Port]], units: _Units, problems: list[Problem]) -> SystemConnection:
    """Combine successive connections into one connection with a factor and an offset.

    Each of these connections converts the unit and then applies a linear transformation. If two
    units cannot be converted, an error message is added to `problems`.
    """
    source, (_, target) = route[0][0].source, route[-1]
    factor, offset, unchecked = 1.0, 0.0, None
    unit, giver = units.at(source), source
    for hop, port in route:
        wanted = units.at(port)
        scale, shift = 1.0, 0.0
        if unit is not None and wanted is not None and not hop.suppressed:
            if unit.fits(wanted):
                scale, shift = conversion(unit, wanted)
            else:
                expected, found = units.name(port), f"{units.name(giver)} at {'.'.join(giver)}"
                text = f"expected a unit that converts to {expected}, got {found}; correct one of the two units"
                problems.append(Problem(connection_to(port), text))
        elif not hop.suppressed and (unit is not None or wanted is not None):
            unchecked = giver if unit is None else port if port == target else unchecked
        factor, offset = hop.factor * scale * factor, hop.factor * (scale * offset + shift) + hop.offset
        if wanted is not None:
            unit, giver = wanted, port
    return SystemConnection(source, target, factor, offset, unchecked)
