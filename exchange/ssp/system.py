"""A system for a plant: an SSP 1.0 archive with its FMU, its parameter values, and a place for a controller.

`SystemStructure.ssd` connects the plant with a controller by the names of their variables; without a controller it
has the plant alone, and a second structure, `Controller.ssd`, has an empty system of fitting connectors where a
controller goes. Systems have no connectors of their own unless an input stays open: libcosim and ecos take no
others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...core.errors import DescriptionError, Problem
from ...core.files import write_atomically
from ...core.templates import fill
from ...core.version import __version__
from ...core.zip_archive import pack
from ...runs.fmpy_runs.opening import read_fmu

# FMI 2.0 and 3.0 types → SSP types
TYPES = {"Real": "Real", "Float32": "Real", "Float64": "Real", "Boolean": "Boolean", "String": "String"}
TYPES |= {"Integer": "Integer", "Int8": "Integer", "UInt8": "Integer", "Int16": "Integer", "UInt16": "Integer"}
TYPES |= {"Int32": "Integer", "UInt32": "Integer", "Int64": "Integer", "UInt64": "Integer"}
EXPONENTS = ("kg", "m", "s", "A", "K", "mol", "cd")  # and rad, which is 1 and may be left out
_BASE_UNITS = (*EXPONENTS, "rad", "factor", "offset")


@dataclass(frozen=True)
class SspUnit:
    """A unit by what it is in base units: exponents, factor and offset that are not the default."""

    name: str
    base: Mapping[str, float]

    def fits(self, other: SspUnit) -> bool:
        """Whether values of one can be converted into the other."""
        return all(self.base.get(key, 0) == other.base.get(key, 0) for key in EXPONENTS)


@dataclass(frozen=True)
class SspConnector:
    """Input or output connector of an element.

    kind  input | output
    type  Real | Integer | Boolean | String
    unit  None: none, or one that its FMU does not define in base units
    """

    name: str
    kind: str
    type: str
    unit: SspUnit | None


@dataclass(frozen=True)
class SspElement:
    """An FMU of the system, or a place for one, which has no source.

    parameters  file of its parameter values in the archive, if it has one
    """

    name: str
    description: str
    connectors: tuple[SspConnector, ...]
    source: str | None = None
    parameters: str | None = None

    def of_kind(self, kind: str) -> dict[str, SspConnector]:
        """Return the inputs or outputs by name."""
        return {c.name: c for c in self.connectors if c.kind == kind}


@dataclass(frozen=True)
class Connection:
    """From an element's output to another's input; an element that is None is the system itself.

    name, target  connectors at the start and at the end; target is empty if both have the same name
    """

    start: str | None
    end: str | None
    name: str
    target: str = ""


@dataclass(frozen=True)
class SspSystem:
    """Elements and how they are connected; `connectors` are those of the system itself."""

    elements: tuple[SspElement, ...]
    connectors: tuple[SspConnector, ...]
    connections: tuple[Connection, ...]


def write_ssp(plant: Path, out: Path, controller: Path | None = None) -> Path:
    """Write `Name.ssp`, named after the plant's model, into a folder.

    plant       FMU 2.0, or 3.0, of which the parameters that are arrays are left out: SSP 1.0 has none
    controller  FMU whose inputs are named like outputs of the plant, and outputs like its inputs
    Raises DescriptionError if one of them is no FMU or nothing fits.
    """
    description = read_fmu(plant)
    name = str(description.modelName)
    own = element_of("Plant", description, "resources/Plant.ssv")
    texts = _Texts(name, description)
    files: dict[str, str | bytes] = {
        "resources/Plant.fmu": plant.read_bytes(),
        "resources/Plant.ssv": texts.parameters(),
    }
    if controller is None:
        slot = SspElement("Controller", "Place for a controller", tuple(map(_opposite, own.connectors)))
        files["SystemStructure.ssd"] = texts.structure(alone(own))
        files["Controller.ssd"] = texts.structure(closed(own, slot), f"{name}Controller")
    else:
        regulator = element_of("Controller", read_fmu(controller))
        _check_fit(own, regulator, controller)
        files["SystemStructure.ssd"] = texts.structure(closed(own, regulator))
        files["resources/Controller.fmu"] = controller.read_bytes()
    path = out / f"{name}.ssp"
    write_atomically(path, pack(files))
    return path


def alone(plant: SspElement) -> SspSystem:
    """The plant with its outputs; libcosim and ecos take no connectors of a system, FMPy no open inputs."""
    outputs = tuple(plant.of_kind("output").values())
    return SspSystem((replace(plant, connectors=outputs),), (), ())


def closed(plant: SspElement, controller: SspElement) -> SspSystem:
    """Both connected by name; inputs that this leaves open become the system's."""
    pairs = ((plant, controller), (controller, plant))
    connections = [
        Connection(start.name, end.name, name)
        for start, end in pairs
        for name in start.of_kind("output")
        if name in end.of_kind("input")
    ]
    connected = {(c.end, c.name) for c in connections}
    given: dict[str, SspConnector] = {}
    for element in (plant, controller):
        for name, connector in element.of_kind("input").items():
            if (element.name, name) not in connected:
                given.setdefault(name, connector)
                connections.append(Connection(None, element.name, name))
    return SspSystem((plant, controller), tuple(given.values()), tuple(connections))


def _check_fit(plant: SspElement, controller: SspElement, path: Path) -> None:
    wanted, offered = plant.of_kind("input"), controller.of_kind("output")
    problems = [*_misfits(plant, controller), *_ambiguous_units(plant, controller)]
    if not set(wanted) & set(offered):
        names = [", ".join(side) or "nothing" for side in (wanted, offered)]
        text = f"expected outputs named like the plant's inputs, {names[0]}, got {names[1]}"
        problems.append(Problem("outputs", text))
    if problems:
        raise DescriptionError(str(path), problems)


def _misfits(plant: SspElement, controller: SspElement) -> Iterator[Problem]:
    """Yield problems of variables with equal names, which are connected."""
    own = {c.name: c for c in plant.connectors}
    for theirs in controller.connectors:
        ours = own.get(theirs.name)
        if ours is None or ours.kind == theirs.kind == "output":
            continue
        if ours.type != theirs.type:
            yield Problem(theirs.name, f"expected an {theirs.kind} of type {ours.type}, got {theirs.type}")
        elif ours.unit and theirs.unit and not ours.unit.fits(theirs.unit):
            text = f"expected a unit that converts to the plant's, {ours.unit.name}, got {theirs.unit.name}"
            yield Problem(theirs.name, text)


def _ambiguous_units(plant: SspElement, controller: SspElement) -> Iterator[Problem]:
    own = {c.unit.name: c.unit for c in plant.connectors if c.unit}
    for name, unit in {c.unit.name: c.unit for c in controller.connectors if c.unit}.items():
        if name in own and unit != own[name]:
            text = f"expected what it is in the plant, {_in_base(own[name])}, got {_in_base(unit)}"
            yield Problem(f"unit {name}", text)


def _in_base(unit: SspUnit) -> str:
    return " ".join(f"{key}={value}" for key, value in unit.base.items()) or "1"


def element_of(name: str, description: Any, parameters: str | None = None) -> SspElement:
    """Return the element of an FMU by its model description; parameters: their file in the archive."""
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
    """The XML files of a system around a plant."""

    def __init__(self, name: str, description: Any) -> None:
        self._common = {"name": name, "tool": f"gpmelica {__version__}"}
        self._experiment = description.defaultExperiment
        self._units = units_of(description)
        parameters = (v for v in description.modelVariables if v.causality == "parameter")
        self._parameters = [v for v in parameters if not v.dimensions]

    def structure(self, system: SspSystem, title: str = "") -> str:
        """Text of a structure description; `title` is its name if another than the model's.

        SSP 2.0 requires names that differ among the descriptions of one archive.
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
        """Plant.ssv: the start values of all parameters, those of its solver included."""
        return self._render(
            "exchange/ssp/parameters.ssv.jinja",
            [self._units[p.unit] for p in self._parameters if p.unit],
            parameters=[(p, TYPES[p.type]) for p in self._parameters],
        )

    def _render(self, template: str, used: Iterable[SspUnit], **values: Any) -> str:
        units = {unit.name: unit.base for unit in used}
        return fill(template, {**self._common, "units": sorted(units.items()), **values})


def units_of(description: Any) -> dict[str, SspUnit]:
    """Return the units that are defined in base units, as SSP requires, by name."""
    return {
        u.name: SspUnit(u.name, _base(u.baseUnit)) for u in description.unitDefinitions if u.baseUnit is not None
    }


def unit_name(variable: Any) -> str | None:
    """Return the unit of the variable or of its declared type."""
    return variable.unit or getattr(variable.declaredType, "unit", None)


def _base(base: Any) -> dict[str, float]:
    values = {key: getattr(base, key) for key in _BASE_UNITS}
    return {key: value for key, value in values.items() if value != (1.0 if key == "factor" else 0)}
