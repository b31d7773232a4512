"""SSP archives of a mechanism that was cut into parts.

An archive contains FMUs of the parts and force laws, start values and connections. A force law is
an FMU without states that returns the forces between two parts. A pin is a pair of coincident
points of two parts. In the archive `rigid`, an annotation lists the pins, and gpmelica keeps the
two points of a pin together. In the archive `bushing`, a spring-damper replaces each pin, so any
SSP program can simulate the archive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..core.files import write_atomically
from ..core.templates import fill
from ..core.version import __version__
from ..core.zip_archive import pack
from ..exchange.ssp.system import Connection, SspElement, SspSystem, SspUnit, element_of, units_of
from ..runs.fmpy_runs.opening import read_fmu
from .cuts import Cut
from .fmus import MEMBERS
from .laws import AXES, ends_of

WHOLE = "Whole"  # The FMU of the uncut mechanism has this name in an SSP archive.
_MOTION = tuple(member for member in MEMBERS if member[0] != "f")
_FORCES = tuple(member for member in MEMBERS if member[0] == "f")


@dataclass(frozen=True)
class PartFmu:
    """FMU in the SSP archive of a cut mechanism.

    Parameters
    ----------
    fmu : path of the FMU
    parameters : values of parameters by name; other parameters have the default values of the FMU
    """

    fmu: Path
    parameters: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class CutSystem:
    """FMUs of a cut mechanism, and data for its SSP archives.

    Parameters
    ----------
    name : name of the mechanism
    fmus : FMUs of parts and force laws, by name of the SSP element
    whole : FMU of the mechanism before the cut
    owner : name of the SSP element that contains a link, by name of the link
    same : pairs of names: an output `element.variable` of a part, and the output of the mechanism
        before the cut that has equal values
    modes : eigenfrequencies of the mechanism in the initial state before the cut, Hz
    experiment : final time (s), communication step (s) for programs other than gpmelica, and solver
        tolerance
    """

    name: str
    fmus: Mapping[str, PartFmu]
    whole: Path
    owner: Mapping[str, str]
    same: Sequence[tuple[str, str]]
    modes: Sequence[float]
    experiment: tuple[float, float, float]

    def write(self, path: Path, pins: Sequence[Cut], laws: Mapping[str, Cut]) -> Path:
        """Write an SSP archive and return its path.

        Parameters
        ----------
        path : path of the archive
        pins : cut joints that rigid connections replace in the archive
        laws : cut joints and ropes that force laws replace, by name of the force law's SSP element
        """
        parts = {*self.owner.values()}
        chosen = {name: part for name, part in self.fmus.items() if name in parts or name in laws}
        files: dict[str, str | bytes] = {f"resources/{WHOLE}.fmu": self.whole.read_bytes()}
        elements, units = [], dict[str, SspUnit]()
        for name, part in chosen.items():
            description = read_fmu(part.fmu)
            units |= units_of(description)
            files[f"resources/{name}.fmu"] = part.fmu.read_bytes()
            parameters = f"resources/{name}.ssv" if part.parameters else None
            if parameters:
                files[parameters] = self._values(name, description, part.parameters)
            elements.append(element_of(name, description, parameters))
        connections = tuple(c for element, cut in laws.items() for c in self._connected(element, cut))
        driven = {(c.end, c.target) for c in connections}
        system = SspSystem(tuple(_without_open_inputs(e, driven) for e in elements), (), connections)
        files["SystemStructure.ssd"] = self._structure(system, units, pins, exact=not self._bushings(laws))
        write_atomically(path, pack(files))
        return path

    @staticmethod
    def _bushings(laws: Mapping[str, Cut]) -> list[str]:
        return [element for element, cut in laws.items() if cut.kind != "rope"]

    def _ports(self, cut: Cut) -> Iterator[tuple[str, str, str]]:
        """Yield three names for each point of a cut: the part, its port, and the end of the force law.

        A port is a group of variables that describe one connection point.
        """
        for pair, ends in zip(cut.pairs, ends_of(cut), strict=True):
            for side, end in zip(pair.sides, ends, strict=True):
                yield self.owner[side.link], pair.port, end

    def _connected(self, law: str, cut: Cut) -> Iterator[Connection]:
        for element, port, end in self._ports(cut):
            for member in _MOTION:
                yield Connection(element, law, f"{port}.{member}", f"{end}.{member}")
            for member in _FORCES:
                yield Connection(law, element, f"{end}.{member}", f"{port}.{member}")

    def _structure(
        self, system: SspSystem, units: Mapping[str, SspUnit], pins: Sequence[Cut], *, exact: bool
    ) -> str:
        used = {c.unit.name: c.unit.base for e in system.elements for c in e.connectors if c.unit}
        stop, step, tolerance = self.experiment
        values: dict[str, Any] = {
            "name": self.name,
            "title": self.name,
            "tool": f"gpmelica {__version__}",
            "system": system,
            "units": sorted(used.items()),
            "start": 0.0,
            "stop": stop,
            "step": step,
            "tolerance": tolerance,
            "pins": [pin for cut in pins for pin in self._pinned(cut)],
            "same": self.same,
            "modes": " ".join(f"{frequency:.6g}" for frequency in self.modes),
            "exact": exact,
        }
        return fill("exchange/ssp/structure.ssd.jinja", values)

    def _pinned(self, cut: Cut) -> Iterator[dict[str, str]]:
        for pair in cut.pairs:
            first, second = (f"{self.owner[side.link]}.{pair.port}" for side in pair.sides)
            for axis in AXES:
                ends = {"first": f"{first}.{axis}", "second": f"{second}.{axis}"}
                yield ends | {"joint": cut.name, "force": f"{first}.f{axis}", "reaction": f"{second}.f{axis}"}

    def _values(self, name: str, description: Any, values: Mapping[str, float]) -> str:
        variables = {v.name: v for v in description.modelVariables}
        units = units_of(description)
        parameters = [_Parameter(key, value, variables[key].unit) for key, value in values.items()]
        used = {p.unit: units[p.unit].base for p in parameters if p.unit}
        common = {"name": name, "tool": f"gpmelica {__version__}", "units": sorted(used.items())}
        return fill(
            "exchange/ssp/parameters.ssv.jinja", common | {"parameters": [(p, "Real") for p in parameters]}
        )


def _without_open_inputs(element: SspElement, driven: set[tuple[str | None, str]]) -> SspElement:
    """Return an SSP element without its unconnected inputs, because FMPy rejects unconnected inputs."""
    kept = tuple(c for c in element.connectors if c.kind == "output" or (element.name, c.name) in driven)
    return replace(element, connectors=kept)


@dataclass(frozen=True)
class _Parameter:
    name: str
    start: float
    unit: str | None
    description: str = ""
