"""SSP 1.0 archive of a plant and a controller: FMUs, parameter values and connections.

`SystemStructure.ssd` connects variables of plant and controller that have equal names. On request,
it also connects pairs of variables with different names. Without a controller, this file contains
the plant alone. The file `Controller.ssd` then also contains a component without an FMU, whose
connectors match the plant. An input that is not connected becomes a connector of the system. A
system has no output connectors, because the simulation masters libcosim and ecos reject them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...core.errors import DescriptionError, Problem
from ...core.files import write_atomically
from ...core.templates import fill
from ...core.version import __version__
from ...core.zip_archive import pack
from ...language.suggest import unknown
from ...runs.fmpy_runs.opening import read_fmu

# Each data type of FMI 2.0 or 3.0 is mapped to the type of an SSP connector.
TYPES = {"Real": "Real", "Float32": "Real", "Float64": "Real", "Boolean": "Boolean", "String": "String"}
TYPES |= {"Integer": "Integer", "Int8": "Integer", "UInt8": "Integer", "Int16": "Integer", "UInt16": "Integer"}
TYPES |= {"Int32": "Integer", "UInt32": "Integer", "Int64": "Integer", "UInt64": "Integer"}
# FMI defines a unit by exponents of these SI base units; rad is ignored, because it is dimensionless.
EXPONENTS = ("kg", "m", "s", "A", "K", "mol", "cd")
_BASE_UNITS = (*EXPONENTS, "rad", "factor", "offset")


@dataclass(frozen=True)
class SspUnit:
    """Unit as a product of powers of SI base units, with factor and offset.

    The mapping `base` contains the exponents, the factor and the offset. Zero exponents, the factor 1
    and the offset 0 are omitted.
    """

    name: str
    base: Mapping[str, float]

    def fits(self, other: SspUnit) -> bool:
        """Return whether both units have equal exponents, so that a value can be converted between them."""
        return all(self.base.get(key, 0) == other.base.get(key, 0) for key in EXPONENTS)


@dataclass(frozen=True)
class SspConnector:
    """Input or output connector of a component or of a system.

    Attributes
    ----------
    name : str
        Name of the FMU variable.
    kind : str
        Direction: "input" or "output".
    type : str
        Data type: "Real", "Integer", "Boolean" or "String".
    unit : SspUnit or None
        Unit; None if the variable has no unit, or if the FMU does not define this unit by SI base
        units.
    """

    name: str
    kind: str
    type: str
    unit: SspUnit | None


@dataclass(frozen=True)
class SspElement:
    """Component of an SSP system: an FMU, or a placeholder for an FMU.

    Attributes
    ----------
    name, description : str
        Name and description of the component.
    connectors : tuple of SspConnector
        Inputs and outputs.
    source : str or None
        Path of the FMU in the archive; None for a placeholder.
    parameters : str or None
        Path of the file with parameter values in the archive, or None.
    """

    name: str
    description: str
    connectors: tuple[SspConnector, ...]
    source: str | None = None
    parameters: str | None = None

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each connector, `input` or `output`, by name."""
        return {c.name: c.kind for c in self.connectors}

    def of_kind(self, kind: str) -> dict[str, SspConnector]:
        """Return the connectors of the given kind, "input" or "output", by name."""
        return {c.name: c for c in self.connectors if c.kind == kind}


@dataclass(frozen=True)
class Connection:
    """Connection of an output to an input.

    The field `start` is the name of the component that has the output. The field `end` is the name
    of the component that has the input. A name is None if the connector belongs to the system
    itself. The field `name` is the name of the connector at the start, and `target` is the name of
    the connector at the end. If `target` is empty, both connectors have the name `name`.
    """

    start: str | None
    end: str | None
    name: str
    target: str = ""


@dataclass(frozen=True)
class SspSystem:
    """SSP system, which consists of components, of connectors to the outside, and of connections."""

    elements: tuple[SspElement, ...]
    connectors: tuple[SspConnector, ...]
    connections: tuple[Connection, ...]


def write_ssp(plant: Path, out: Path, controller: Path | None = None, connect: Sequence[str] = ()) -> Path:
    """Write the SSP archive `Name.ssp`, which is named after the plant's model, and return its path.

    Array parameters of an FMI 3.0 plant are omitted, because SSP 1.0 has no arrays.

    Parameters
    ----------
    plant : Path
        FMU of the plant, FMI 2.0 or 3.0.
    out : Path
        Output folder.
    controller : Path, optional
        FMU of a controller. Its inputs are connected to outputs of the plant with the same names,
        and its outputs to inputs of the plant.
    connect : sequence of str
        Texts `A=B` that connect a variable A of the plant with a variable B of the controller.

    Raises
    ------
    DescriptionError
        If a file is not an FMU, or plant and controller do not match.
    """
    description = read_fmu(plant)
    name = str(description.modelName)
    own = element_of("Plant", description, "resources/Plant.ssv")
    texts = _Texts(name, description)
    files: dict[str, str | bytes] = {
        "resources/Plant.fmu": plant.read_bytes(),
        "resources/Plant.ssv": texts.parameters(),
    }
    if controller is None and connect:
        raise DescriptionError(
            "connect",
            f"{connect[0]!r} connects a variable of a controller, but there is no controller FMU; give one",
        )
    if controller is None:
        slot = SspElement("Controller", "Place for a controller", tuple(map(_opposite, own.connectors)))
        files["SystemStructure.ssd"] = texts.structure(alone(own))
        files["Controller.ssd"] = texts.structure(
            closed(own, slot, connected_pairs(own, slot)), f"{name}Controller"
        )
    else:
        regulator = element_of("Controller", read_fmu(controller))
        pairs = connected_pairs(own, regulator, connect)
        _check_fit(own, regulator, pairs, controller)
        files["SystemStructure.ssd"] = texts.structure(closed(own, regulator, pairs))
        files["resources/Controller.fmu"] = controller.read_bytes()
    path = out / f"{name}.ssp"
    write_atomically(path, pack(files))
    return path


def alone(plant: SspElement) -> SspSystem:
    """Return a system that consists of a plant alone.

    The plant has output connectors only, because FMPy rejects unconnected inputs. The system itself
    has no connectors, because the simulation masters libcosim and ecos reject output connectors of
    a system.
    """
    outputs = tuple(plant.of_kind("output").values())
    return SspSystem((replace(plant, connectors=outputs),), (), ())


# Each pair contains the name of a plant variable and the name of the connected controller variable.
Pairs = Sequence[tuple[str, str]]


def closed(plant: SspElement, controller: SspElement, pairs: Pairs) -> SspSystem:
    """Return the system of a plant and a controller with connected variables.

    Inputs that remain unconnected become inputs of the system. The argument `pairs` contains the
    pairs of connected variables.
    """
    outputs, connections = plant.of_kind("output"), list[Connection]()
    for ours, theirs in pairs:
        if ours in outputs:
            connections.append(_connection(plant, controller, ours, theirs))
        else:
            connections.append(_connection(controller, plant, theirs, ours))
    connections.sort(key=lambda connection: connection.start != plant.name)
    connected = {(c.end, c.target or c.name) for c in connections}
    given: dict[str, SspConnector] = {}
    for element in (plant, controller):
        for name, connector in element.of_kind("input").items():
            if (element.name, name) not in connected:
                given.setdefault(name, connector)
                connections.append(Connection(None, element.name, name))
    return SspSystem((plant, controller), tuple(given.values()), tuple(connections))


def _connection(start: SspElement, end: SspElement, name: str, target: str) -> Connection:
    return Connection(start.name, end.name, name, "" if name == target else target)


def connected_pairs(plant: SspElement, controller: SspElement, connect: Sequence[str] = ()) -> Pairs:
    """Return the pairs of connected variables of plant and controller.

    Parameters
    ----------
    plant, controller : SspElement
        Components of the system.
    connect : sequence of str
        Texts `A=B` with a variable A of the plant and a variable B of the controller. All other
        inputs are connected to outputs of equal names.

    Raises
    ------
    DescriptionError
        If a text contains an unknown variable, two inputs, two outputs, or an input that is already
        connected.
    """
    found, taken, problems = list[tuple[str, str]](), set[tuple[str, str]](), list[Problem]()
    for text in connect:
        ours, _, theirs = (part.strip() for part in text.partition("="))
        problem = _pair_problem(ours, theirs, plant, controller)
        if problem is None:
            end = _end(ours, theirs, plant)
            if end in taken:
                problem = f"the input {end[1]} of the {end[0]} is connected already"
            taken.add(end)
            found.append((ours, theirs))
        if problem is not None:
            problems.append(Problem(text, problem))
    if problems:
        raise DescriptionError("connect", problems)
    theirs_by_name = controller.kinds
    equal = [name for name, kind in plant.kinds.items() if {kind, theirs_by_name.get(name)} == {"input", "output"}]
    return [*found, *((name, name) for name in equal if _end(name, name, plant) not in taken)]


def _end(ours: str, theirs: str, plant: SspElement) -> tuple[str, str]:
    """Return the input of a connected pair of variables: its component and its name.

    The component is `plant` or `controller`.
    """
    return ("plant", ours) if ours in plant.of_kind("input") else ("controller", theirs)


def _pair_problem(ours: str, theirs: str, plant: SspElement, controller: SspElement) -> str | None:
    if not (ours and theirs):
        return "expected A=B with a variable A of the plant and a variable B of the controller"
    of_plant, of_controller = plant.kinds, controller.kinds
    for name, known, what in ((ours, of_plant, "plant"), (theirs, of_controller, "controller")):
        if name not in known:
            return unknown(f"variable of the {what}", name, known)
    if of_plant[ours] == of_controller[theirs]:
        return f"expected an input and an output, got two {of_plant[ours]}s"
    return None


def _check_fit(plant: SspElement, controller: SspElement, pairs: Pairs, path: Path) -> None:
    wanted, offered = plant.of_kind("input"), controller.of_kind("output")
    problems = [*_misfits(plant, controller, pairs), *_ambiguous_units(plant, controller)]
    if not any(ours in wanted for ours, _ in pairs):
        names = [", ".join(side) or "nothing" for side in (wanted, offered)]
        text = (
            f"expected outputs named like the plant's inputs, {names[0]}, got {names[1]}; rename them, or connect"
            " other names by --connect A=B"
        )
        problems.append(Problem("outputs", text))
    if problems:
        raise DescriptionError(str(path), problems)


def _misfits(plant: SspElement, controller: SspElement, pairs: Pairs) -> Iterator[Problem]:
    """Yield an error for each pair of connected variables with incompatible types or units.

    Inputs of the plant and the controller that have the same name are also checked as a pair.
    """
    own, other = ({c.name: c for c in element.connectors} for element in (plant, controller))
    shared = [(name, name) for name in plant.of_kind("input") if name in controller.of_kind("input")]
    for ours, theirs in ((own[a], other[b]) for a, b in (*pairs, *shared)):
        if ours.type != theirs.type:
            yield Problem(theirs.name, f"expected an {theirs.kind} of type {ours.type}, got {theirs.type}")
        elif ours.unit and theirs.unit and not ours.unit.fits(theirs.unit):
            text = f"expected a unit that converts to the plant's, {ours.unit.name}, got {theirs.unit.name}"
            yield Problem(theirs.name, text)


def _ambiguous_units(plant: SspElement, controller: SspElement) -> Iterator[Problem]:
    own = {c.unit.name: c.unit for c in plant.connectors if c.unit}
    for name, unit in {c.unit.name: c.unit for c in controller.connectors if c.unit}.items():
        if name in own and unit != own[name]:
            text = f"expected the plant's definition, {_in_base(own[name])}, got {_in_base(unit)}"
            yield Problem(f"unit {name}", text)


def _in_base(unit: SspUnit) -> str:
    return " ".join(f"{key}={value}" for key, value in unit.base.items()) or "1"


def element_of(name: str, description: Any, parameters: str | None = None) -> SspElement:
    """Return the SSP component of an FMU.

    The argument `description` is the model description of the FMU. The argument `parameters` is the
    path of the parameter values in the archive.
    """
    units = units_of(description)
    scalars = (v for v in description.modelVariables if v.type in TYPES and not v.dimensions)
    connectors = tuple(
        SspConnector(v.name, v.causality, TYPES[v.type], units.get(unit_name(v) or ""))
        for v in scalars
        if v.causality in ("input", "output")
    )
    source = f"resources/{name}.fmu"
    return SspElement(name, str(description.description or ""), connectors, source, parameters)


def _opposite(connector: SspConnector) -> SspConnector:
    return replace(connector, kind="input" if connector.kind == "output" else "output")


class _Texts:
    """Writer of the XML files of an SSP archive that contains a given plant."""

    def __init__(self, name: str, description: Any) -> None:
        self._common = {"name": name, "tool": f"gpmelica {__version__}"}
        self._experiment = description.defaultExperiment
        self._units = units_of(description)
        parameters = (v for v in description.modelVariables if v.causality == "parameter")
        self._parameters = [v for v in parameters if not v.dimensions]

    def structure(self, system: SspSystem, title: str = "") -> str:
        """Return the XML text of a system structure description (SSD).

        The argument `title` is the name of the system; by default, the name of the model. In an
        archive with several systems, their names differ, as SSP 2.0 requires.
        """
        connectors = [*system.connectors, *(c for element in system.elements for c in element.connectors)]
        return self._render(
            "exchange/ssp/structure.ssd.jinja",
            [c.unit for c in connectors if c.unit],
            system=system,
            title=title or self._common["name"],
            start=self._experiment.startTime,
            stop=self._experiment.stopTime,
            step=self._experiment.stepSize,
            tolerance=self._experiment.tolerance,
            pins=(),
            same=(),
        )

    def parameters(self) -> str:
        """Return the XML text of `Plant.ssv`, which contains the values of all plant parameters.

        The parameters of the FMU's solver are included.
        """
        return self._render(
            "exchange/ssp/parameters.ssv.jinja",
            [self._units[p.unit] for p in self._parameters if p.unit],
            parameters=[(p, TYPES[p.type]) for p in self._parameters],
        )

    def _render(self, template: str, used: Iterable[SspUnit], **values: Any) -> str:
        units = {unit.name: unit.base for unit in used}
        return fill(template, {**self._common, "units": sorted(units.items()), **values})


def units_of(description: Any) -> dict[str, SspUnit]:
    """Return the unit definitions in the FMU, by unit name.

    The definitions refer to SI base units. An SSP archive must contain them.
    """
    return {
        u.name: SspUnit(u.name, _base(u.baseUnit)) for u in description.unitDefinitions if u.baseUnit is not None
    }


def unit_name(variable: Any) -> str | None:
    """Return the unit of an FMU variable, or of its declared type; None if both have no unit."""
    return variable.unit or getattr(variable.declaredType, "unit", None)


def _base(base: Any) -> dict[str, float]:
    values = {key: getattr(base, key) for key in _BASE_UNITS}
    return {key: value for key, value in values.items() if value != (1.0 if key == "factor" else 0)}
