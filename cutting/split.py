"""A machine in two or more FMUs: from a description to archives that masters run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..analysis.prepared import Prepared
from ..core.files import write_atomically
from ..description.load import tables_of
from ..options.checks import FMI_VERSIONS, above_zero, one_of
from ..options.model import SplitOptions
from ..runs.fmpy_runs.opening import read_fmu
from .archive import CutSystem, PartFmu
from .cuts import Cut, cuts_at
from .description_text import description_text
from .fmus import FmuBuilder
from .laws import AXES, bushing, rope
from .parts import MachinePart, Tables, parts_of
from .pins import PinStatics, pin_statics

_STEPS = 10  # communication steps of other masters per output step
# tolerance of the parts' solvers over that of the description, since stiff bushings turn errors of positions into
# forces; and the least one
_FINER, _FINEST = 1e-2, 1e-12
_EQUAL = ("coordinate", "point", "link", "line", "contact", "support", "element", "output", "filter")


@dataclass(frozen=True)
class Split:
    """A machine that was cut.

    Parameters
    ----------
    archives : paths of the SSP archives by their kind: `rigid` and `bushing`, or `rope` if only ropes are cut
    descriptions : paths of the parts' descriptions
    bushings : cut → stiffness, N/m, and damping, N·s/m, of its spring-dampers
    notes : what the parts do not take over from the whole machine
    """

    archives: Mapping[str, Path]
    descriptions: tuple[Path, ...]
    bushings: Mapping[str, tuple[float, float]]
    notes: tuple[str, ...]

    @property
    def files(self) -> list[Path]:
        """All paths."""
        return [*self.archives.values(), *self.descriptions]

    def lines(self) -> Iterator[str]:
        """Facts about the archives in sentences."""
        for name, (stiffness, damping) in self.bushings.items():
            yield f"bushing at {name}: {stiffness:g} N/m and {damping:g} N·s/m in each direction"
        yield from self.notes


def split(model: Prepared, options: SplitOptions, source: str = "description") -> Split:
    """Cut a machine and write its parts, as descriptions and as archives of FMUs.

    Parameters
    ----------
    options : places of the cuts, folder, and settings of the archives
    source : file of the description, for messages

    Raises
    ------
    DescriptionError : for a place that cannot be cut, or a cut that does not separate
    MissingToolError : without a C compiler
    """
    one_of("fmi", options.fmi, FMI_VERSIONS)
    for key in ("step", "stiffness", "damping"):
        if getattr(options, key) is not None:
            above_zero(key, getattr(options, key))
    names = options.at.split(",") if isinstance(options.at, str) else options.at
    cuts = cuts_at(model, [name.strip() for name in names], source)
    parts = parts_of(model, cuts, source)
    out, paths = Path(options.out or model.name), list[Path]()
    with TemporaryDirectory(prefix="gpmelica-") as folder:
        archives, bushings = _Splitting(model, cuts, parts, options, Path(folder)).archives(out)
    for part in parts:
        head = [f"{part.tables['description']}.", *_about_start(part)]
        write_atomically(out / f"{part.name}.toml", description_text(_relocated(part.tables, out), head))
        paths.append(out / f"{part.name}.toml")
    return Split(archives, tuple(paths), bushings, tuple(note for part in parts for note in part.notes))


@dataclass(frozen=True)
class _Splitting:
    """Work on one machine, in a folder that is deleted afterwards."""

    model: Prepared
    cuts: Sequence[Cut]
    parts: Sequence[MachinePart]
    options: SplitOptions
    folder: Path

    def archives(self, out: Path) -> tuple[dict[str, Path], dict[str, tuple[float, float]]]:
        """Write the archives; return their paths, and the constants of the bushings."""
        builder = FmuBuilder(self.options.fmi, self.options.march, self.options.progress)
        whole = self.folder / "whole.fmu"
        chain = builder.machine(self._whole(), whole)
        fmus = {part.name: self._built(builder, part) for part in self.parts}
        pinned, ropes = ([c for c in self.cuts if (c.kind == "rope") is rope_] for rope_ in (False, True))
        laws = {cut.name: cut for cut in ropes}
        for cut in ropes:
            assert cut.line is not None
            builder.law(rope(cut.name, cut.line, chain), chain, self._law(cut))
            fmus[cut.name] = PartFmu(self._law(cut))
        owner = {link: part.name for part in self.parts for link in part.links}
        simulation = self.model.chain.simulation
        step = self.options.step or simulation.output_step / _STEPS
        same = [*self._same(whole, fmus)]
        experiment = (simulation.stop, step, simulation.tolerance)
        system = CutSystem(self.model.name, fmus, whole, owner, same, experiment)
        if not pinned:
            return {"rope": system.write(out / f"{self.model.name}_rope.ssp", (), laws)}, {}
        statics = pin_statics(fmus, owner, self.cuts, self.folder / "statics")
        constants = {cut.name: self._constants(statics, cut, step) for cut in pinned}
        for cut in pinned:
            preload = {pair.port: statics.forces[pair.port] for pair in cut.pairs}
            builder.law(bushing(f"{cut.name}_bushing", cut, *constants[cut.name], preload), chain, self._law(cut))
            fmus[f"{cut.name}_bushing"] = PartFmu(self._law(cut))
        bushings = laws | {f"{cut.name}_bushing": cut for cut in pinned}
        paths = {
            "rigid": system.write(out / f"{self.model.name}_rigid.ssp", pinned, laws),
            "bushing": system.write(out / f"{self.model.name}_bushing.ssp", (), bushings),
        }
        return paths, constants

    def _law(self, cut: Cut) -> Path:
        return self.folder / f"law_{cut.name}.fmu"

    def _whole(self) -> Tables:
        """Description of the whole machine with the points of the first sides of pins."""
        tables = tables_of(self.model.chain)
        ends = {
            pair.port: {"link": pair.sides[0].link, "position": list(pair.sides[0].position)}
            for cut in self.cuts
            if cut.kind != "rope"
            for pair in cut.pairs
        }
        return tables | {"points": tables.get("points", {}) | ends}

    def _built(self, builder: FmuBuilder, part: MachinePart) -> PartFmu:
        ports = [pair.port for cut in self.cuts for pair in cut.pairs if part.links & {s.link for s in pair.sides}]
        fmu = self.folder / f"{part.name}.fmu"
        builder.machine(part.tables, fmu, ports, part.name)
        tolerance = max(_FINER * self.model.chain.simulation.tolerance, _FINEST)
        return PartFmu(fmu, {"solver_tolerance": tolerance, **part.start})

    def _same(self, whole: Path, fmus: Mapping[str, PartFmu]) -> Iterator[tuple[str, str]]:
        """Outputs of parts and ropes that the whole machine also has."""
        signals = self.model.signals
        outputs = {v.name for v in read_fmu(whole).modelVariables if v.causality == "output"}
        for element, part in fmus.items():
            for variable in read_fmu(part.fmu).modelVariables:
                name = variable.name
                known = signals.get(name)
                if variable.causality == "output" and name in outputs and known and known.origin.kind in _EQUAL:
                    yield f"{element}.{name}", name
        owner = {link: part.name for part in self.parts for link in part.links}
        for cut in self.cuts:
            for pair in cut.pairs if cut.kind != "rope" else ():
                for member in (*AXES, *(f"v{axis}" for axis in AXES)):
                    yield f"{owner[pair.sides[0].link]}.{pair.port}.{member}", f"{pair.port}_{member}"

    def _constants(self, statics: PinStatics, cut: Cut, step: float) -> tuple[float, float]:
        stiffness, damping = statics.bushing([pair.port for pair in cut.pairs], step)
        return self.options.stiffness or stiffness, self.options.damping or damping


def _about_start(part: MachinePart) -> Iterator[str]:
    if part.start:
        yield "Deflections of base and beams at the start are parameters of the FMU, given in the archive:"
        yield ", ".join(f"{name} = {value:.6g}" for name, value in part.start.items() if value) or "all are zero"


def _relocated(tables: Tables, folder: Path) -> Tables:
    """Tables whose files have paths from another folder."""

    def placed(key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: placed(name, member) for name, member in value.items()}
        if isinstance(value, list):
            return [placed(key, member) for member in value]
        return Path(os.path.relpath(value, folder)).as_posix() if key == "file" else value

    return {key: placed(key, value) for key, value in tables.items()}
