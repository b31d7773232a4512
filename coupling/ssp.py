"""Systems from SSP archives of version 1.0 and 2.0: elements, connections, parameter values, annotations.

Nested systems are flattened: `inner.motor` is the element `motor` of the system `inner`. The reader takes FMUs,
linear transformations, unit conversions, parameter sets and mappings, inside the description or as files. It takes
no nested archives, signal dictionaries, clocks and structural parameters. What the master needs beyond the
standard is in an annotation of the type `org.gpmelica.coupling`; a step may also be in one of OMSimulator or OSP.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ..core.errors import DescriptionError, Problem
from ..exchange.xml_file import read_xml
from .network import Pin, Port
from .units import PhysicalUnit, by_name, conversion, defined

ANNOTATION = "org.gpmelica.coupling"
_FMU = "application/x-fmu-sharedlibrary"


@dataclass
class SystemElement:
    """An FMU of the system.

    Parameters
    ----------
    name : path of names that dots separate
    source : the FMU
    parameters : start values by name of the variable
    units : connector → name of its unit, or an empty string
    """

    name: str
    source: Path
    parameters: dict[str, Any] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SystemConnection:
    """A connection between elements after flattening: value = factor · (converted value) + offset, hop by hop."""

    source: Port
    target: Port
    factor: float
    offset: float
    suppressed: bool = False


@dataclass
class SystemStructure:
    """A system as an archive describes it.

    Parameters
    ----------
    elements : by name
    links : connections between elements
    start, stop : of the default experiment, s
    step, tolerance : from annotations
    periods : element → sample period, s
    """

    name: str
    source: str
    elements: dict[str, SystemElement] = field(default_factory=dict)
    links: list[SystemConnection] = field(default_factory=list)
    pins: list[Pin] = field(default_factory=list)
    units: dict[str, PhysicalUnit] = field(default_factory=dict)
    start: float = 0.0
    stop: float | None = None
    step: float | None = None
    tolerance: float | None = None
    periods: dict[str, float] = field(default_factory=dict)


def read_ssp(path: Path, folder: Path) -> SystemStructure:
    """Read `SystemStructure.ssd` of an archive, which is unpacked into a folder.

    Raises
    ------
    DescriptionError : with all problems found
    """
    try:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
    except (OSError, zipfile.BadZipFile) as error:
        raise DescriptionError(str(path), f"is not an SSP archive: {error}") from None
    main = folder / "SystemStructure.ssd"
    if not main.exists():
        raise DescriptionError(
            str(path), "has no SystemStructure.ssd; expected an SSP archive of version 1.0 or 2.0"
        )
    return _Reader(str(path), folder).read(read_xml(main))


def _local(node: Any) -> str:
    return str(node.tag).rpartition("}")[2]


def _children(node: Any, *path: str) -> Iterator[Any]:
    """Children by local names, level by level."""
    if not path:
        yield node
        return
    for child in node:
        if _local(child) == path[0]:
            yield from _children(child, *path[1:])


def _number(node: Any, key: str, usual: float) -> float:
    return float(node.get(key, usual))


@dataclass(frozen=True)
class _Hop:
    source: Port
    factor: float
    offset: float
    suppressed: bool


class _Reader:
    """Reads one description; `problems` collects what is wrong with it."""

    def __init__(self, source: str, folder: Path) -> None:
        self._folder, self._problems = folder, list[Problem]()
        self._found = SystemStructure("", source)
        self._hops: dict[Port, _Hop] = {}
        self._connectors: dict[Port, str] = {}

    def read(self, root: Any) -> SystemStructure:
        found = self._found
        found.name = root.get("name", "")
        for unit in _children(root, "Units", "Unit"):
            base = next(_children(unit, "BaseUnit"), None)
            if base is not None:
                found.units[unit.get("name")] = defined(_Attributes(base))
        for experiment in _children(root, "DefaultExperiment"):
            found.start = _number(experiment, "startTime", 0.0)
            found.stop = _number(experiment, "stopTime", 0.0) or None
        system = next(_children(root, "System"), None)
        if system is None:
            raise DescriptionError(found.source, "expected a System in SystemStructure.ssd, found none")
        self._system(system, "")
        found.links = [*self._flattened()]
        for node in root.iter():
            if isinstance(node.tag, str):
                self._annotation(node)
        if self._problems:
            raise DescriptionError(found.source, self._problems)
        return found

    def _system(self, node: Any, prefix: str) -> None:
        for child in (c for elements in _children(node, "Elements") for c in elements):
            name = prefix + child.get("name", "")
            if name in self._found.elements:
                self._problems.append(Problem(f"element {name}", "expected unique names of elements; rename one"))
            self._connectors_of(child, name)
            if _local(child) == "System":
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
            unit = next((t.get("unit", "") for t in connector if t.get("unit")), "")
            self._connectors[name, connector.get("name")] = unit
            if name in self._found.elements:
                self._found.elements[name].units[connector.get("name")] = unit
                self._found.elements[name].kinds[connector.get("name")] = connector.get("kind")

    def _component(self, node: Any, name: str) -> None:
        kind, source = node.get("type", _FMU), self._folder / unquote(node.get("source", ""))
        if kind != _FMU or source.suffix == ".ssp":
            text = f"expected an FMU ({_FMU}), got {kind}; nested archives and descriptions are not supported"
            self._problems.append(Problem(f"element {name}", text))
        elif not source.is_file() or not source.resolve().is_relative_to(self._folder.resolve()):
            text = f"expected the file {node.get('source')} in the archive, found none"
            self._problems.append(Problem(f"element {name}", text))
        self._found.elements[name] = SystemElement(name, source)
        self._connectors_of(node, name)
        self._bindings(node, name + ".")

    # ---- Connections ---------------------------------------------------------------------------------------

    def _connection(self, node: Any, prefix: str) -> None:
        ends = []
        for side in ("start", "end"):
            element = node.get(f"{side}Element")
            ends.append((prefix + element if element else prefix.rstrip("."), node.get(f"{side}Connector")))
        source, target = ends
        linear = next(_children(node, "LinearTransformation"), None)
        factor = 1.0 if linear is None else _number(linear, "factor", 1.0)
        offset = 0.0 if linear is None else _number(linear, "offset", 0.0)
        for kind in ("Boolean", "Integer", "Enumeration"):
            if next(_children(node, f"{kind}MappingTransformation"), None) is not None:
                text = f"{kind}MappingTransformation is not supported; use a linear transformation or none"
                self._problems.append(Problem(f"connection to {'.'.join(target)}", text))
        if target in self._hops:
            first = ".".join(self._hops[target].source)
            text = f"has two drivers, {first} and {'.'.join(source)}; remove one of the connections"
            self._problems.append(Problem(f"input {'.'.join(target)}", text))
        suppressed = node.get("suppressUnitConversion", "false") in ("true", "1")
        self._hops[target] = _Hop(source, factor, offset, suppressed)

    def _flattened(self) -> Iterator[SystemConnection]:
        """Connections from element to element, through the connectors of systems."""
        for target in self._hops:
            if target[0] not in self._found.elements:
                continue
            port, factor, offset = target, 1.0, 0.0
            suppressed, seen = False, set[Port]()
            while port in self._hops and port not in seen:
                seen.add(port)
                hop = self._hops[port]
                scale, shift = self._converted(hop, port)
                factor, offset = factor * scale, offset + factor * shift
                suppressed |= hop.suppressed
                port = hop.source
            if port[0] in self._found.elements:
                yield SystemConnection(port, target, factor, offset, suppressed)

    def _converted(self, hop: _Hop, target: Port) -> tuple[float, float]:
        """Factor and offset of a hop: first the conversion of units, then the linear transformation."""
        pair = [self._unit(self._connectors.get(port, "")) for port in (hop.source, target)]
        if hop.suppressed or None in pair:
            return hop.factor, hop.offset
        source, wanted = pair
        assert source is not None and wanted is not None
        if not source.fits(wanted):
            names = [self._connectors[port] for port in (hop.source, target)]
            text = f"expected a unit that converts to {names[1]}, got {names[0]} of {'.'.join(hop.source)}"
            self._problems.append(Problem(f"connection to {'.'.join(target)}", text))
            return hop.factor, hop.offset
        scale, shift = conversion(source, wanted)
        return hop.factor * scale, hop.factor * shift + hop.offset

    def _unit(self, name: str) -> PhysicalUnit | None:
        return (self._found.units.get(name) or by_name(name)) if name else None

    # ---- Parameters ----------------------------------------------------------------------------------------

    def _bindings(self, node: Any, prefix: str) -> None:
        for binding in _children(node, "ParameterBindings", "ParameterBinding"):
            inline = next(_children(binding, "ParameterValues", "ParameterSet"), None)
            parameters = inline if inline is not None else self._file(binding.get("source"))
            if parameters is None:
                continue
            values = dict(_values(parameters))
            mapping = next(_children(binding, "ParameterMapping"), None)
            if mapping is not None:
                values = _mapped(values, self._mapping(mapping))
            for name, value in values.items():
                self._assign(prefix + (binding.get("prefix") or "") + name, value)

    def _mapping(self, node: Any) -> Any:
        inner = next(_children(node, "ParameterMapping"), None)
        return inner if inner is not None else self._file(node.get("source")) if node.get("source") else node

    def _file(self, name: str | None) -> Any:
        path = self._folder / unquote(name or "")
        if not path.is_file() or not path.resolve().is_relative_to(self._folder.resolve()):
            text = f"expected the file {name} in the archive, found none"
            self._problems.append(Problem("parameter binding", text))
            return None
        return read_xml(path)

    def _assign(self, name: str, value: Any) -> None:
        """Give a value to the element with the longest name that begins it."""
        owners = [e for e in self._found.elements if name.startswith(e + ".")]
        if owners:
            owner = max(owners, key=len)
            self._found.elements[owner].parameters[name[len(owner) + 1 :]] = value

    # ---- Annotations ---------------------------------------------------------------------------------------

    def _annotation(self, node: Any) -> None:
        found, tag = self._found, _local(node)
        if tag == "FixedStepMaster" and node.get("stepSize"):  # of OMSimulator and OSP
            found.step = float(node.get("stepSize"))
        elif tag == "BaseStepSize" and node.text:
            found.step = float(node.text)
        elif tag == "Annotation" and node.get("type") == ANNOTATION:
            for child in node.iter():
                self._coupling(child)

    def _coupling(self, node: Any) -> None:
        found, tag = self._found, _local(node)
        if tag == "Coupling":
            found.step = float(node.get("step")) if node.get("step") else found.step
            found.tolerance = float(node.get("tolerance")) if node.get("tolerance") else found.tolerance
        elif tag == "Sampled":
            found.periods[node.get("element")] = float(node.get("period"))
        elif tag == "Pin":
            found.pins.append(
                Pin(*(self._port(node.get(k, "")) for k in ("first", "second", "force", "reaction")))
            )

    def _port(self, name: str) -> Port:
        owners = [e for e in self._found.elements if name.startswith(e + ".")]
        if not owners:
            self._problems.append(
                Problem(f"pin {name}", "expected ELEMENT.VARIABLE with an element of the system")
            )
            return "", name
        owner = max(owners, key=len)
        return owner, name[len(owner) + 1 :]


class _Attributes:
    """Attributes of an XML element as those of an object."""

    def __init__(self, node: Any) -> None:
        self.__dict__.update(node.attrib)


def _values(parameters: Any) -> Iterator[tuple[str, Any]]:
    for parameter in _children(parameters, "Parameters", "Parameter"):
        for value in parameter:
            text = value.get("value")
            if text is not None:
                yield parameter.get("name"), _python(_local(value), text)


def _python(kind: str, text: str) -> Any:
    if kind == "Boolean":
        return text in ("true", "1")
    if kind == "String":
        return text
    return int(text) if kind == "Integer" else float(text)


def _mapped(values: Mapping[str, Any], mapping: Any) -> dict[str, Any]:
    """Values under the names, and with the transformations, of a mapping; others stay as they are."""
    found = dict(values)
    entries = [*_children(mapping, "MappingEntry")]
    for entry in entries:
        found.pop(entry.get("source"), None)
    for entry in entries:
        if entry.get("source") in values:
            value = values[entry.get("source")]
            linear = next(_children(entry, "LinearTransformation"), None)
            if linear is not None:
                value = value * _number(linear, "factor", 1.0) + _number(linear, "offset", 0.0)
            found[entry.get("target")] = value
    return found
