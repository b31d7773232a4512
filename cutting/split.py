"""Functions that divide a mechanism into parts for co-simulation.

The results are descriptions of the parts, their FMUs, and SSP archives that connect the FMUs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..analysis.system import System
from ..core.files import write_atomically
from ..description import Description
from ..description.load import tables_of
from ..options.checks import FMI_VERSIONS, above_zero, one_of
from ..options.model import SplitOptions
from ..runs.fmpy_runs.opening import read_fmu
from .archive import WHOLE, CutSystem, PartFmu
from .cuts import Cut, cuts_at, free
from .description_text import description_text
from .fmus import FmuBuilder
from .laws import AXES, Bushing, bushing, rope
from .modes import frequencies
from .parts import MachinePart, Tables, parts_of
from .pins import PartsAtStart

# Each output step is divided into this number of communication steps for simulation masters with a fixed step.
_STEPS = 10
# FMUs of a cut mechanism have the described tolerance times this factor, because stiff bushings amplify errors.
_FINER = 1e-2
_FINEST = 1e-12  # If a mechanism is cut into several FMUs, the tolerance of their solvers is at least this value.
# The initial force may deflect a spring-damper (bushing) by at most this fraction of the mechanism's size.
_DEFLECTION = 1e-3
# Accelerations, efforts and reactions jump with coupling forces, so no comparison includes these signals.
_JUMPING = ("acceleration", "effort", "load")
_EQUAL = ("coordinate", "point", "link", "line", "contact", "support", "element", "output", "filter")


@dataclass(frozen=True)
class Split:
    """Files that describe the parts of a cut mechanism.

    The tutorial `two_parts` shows how to simulate the parts together.

    Parameters
    ----------
    archives
        Paths of the SSP archives by kind: `rigid` and `bushing`, or `rope` if only ropes are cut.
    descriptions
        Paths of the descriptions of the parts.
    bushings
        Stiffness, damping and preload of the spring-dampers that replace joints in the archive
        `bushing`, by name of the cut.
    notes
        Sentences about bushings, about a shortened communication step, and about outputs that no
        part contains.
    """

    archives: Mapping[str, Path]
    descriptions: tuple[Path, ...]
    bushings: Mapping[str, Bushing]
    notes: tuple[str, ...]

    @property
    def files(self) -> list[Path]:
        """Paths of the SSP archives, followed by the paths of the parts' descriptions."""
        return [*self.archives.values(), *self.descriptions]

    def lines(self) -> Iterator[str]:
        """Yield lines for the terminal: stiffness and damping of each bushing, then all `notes`.

        A bushing is a spring-damper that replaces a joint.
        """
        for name, found in self.bushings.items():
            yield (
                f"bushing at {name}: {found.stiffness:g} N/m and {found.damping:g} N·s/m in each direction; a"
                f" change of its force by the initial {found.force:.3g} N deflects it by {found.deflection:.2g} m"
            )
        yield from self.notes


def split(model: System, options: SplitOptions, source: str = "description") -> Split:
    """Cut a mechanism into parts; write the parts' descriptions, and SSP archives with their FMUs.

    Parameters
    ----------
    model
        Mechanism with its equations.
    options
        Joints, closures and force elements to cut; output folder; settings of the archives.
    source
        Name of the description file, for messages.

    Raises
    ------
    DescriptionError
        If a joint, closure or force element cannot be cut, or if the two sides of a cut remain
        connected.
    MissingToolError
        If there is no C compiler.
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
        splitting = _Splitting(model, cuts, parts, options, Path(folder))
        archives, bushings = splitting.archives(out)
    for part in parts:
        head = [f"{part.tables['description']}.", *_about_start(part)]
        write_atomically(out / f"{part.name}.toml", description_text(_relocated(part.tables, out), head))
        paths.append(out / f"{part.name}.toml")
    notes = dict.fromkeys([*splitting.notes, *(note for part in parts for note in part.notes)])
    return Split(archives, tuple(paths), bushings, tuple(notes))


class _Splitting:
    """Builder of the FMUs and SSP archives of a cut mechanism; uses a folder for intermediate files."""

    def __init__(
        self,
        model: System,
        cuts: Sequence[Cut],
        parts: Sequence[MachinePart],
        options: SplitOptions,
        folder: Path,
    ) -> None:
        self._model, self._cuts, self._parts, self._options, self._folder = model, cuts, parts, options, folder
        self._builder = FmuBuilder(options.fmi, options.march, options.progress)
        self._pins = [cut for cut in cuts if cut.kind != "rope"]
        self._owner = {link: part.name for part in parts for link in part.links}
        self._taken = {WHOLE, *self._owner.values()}  # The SSP archives already contain FMUs with these names.
        self._step = options.step or model.chain.simulation.output_step / _STEPS
        self.notes: list[str] = []

    def archives(self, out: Path) -> tuple[dict[str, Path], dict[str, Bushing]]:
        """Write the SSP archives; return their paths and the constants of spring-dampers that replace joints.

        The keys of the paths are `rigid` and `bushing`, or `rope` if only ropes are cut. The keys
        of the spring-dampers are the names of the cut joints.
        """
        whole, name = self._folder / "whole.fmu", self._model.name
        model = self._builder.machine(self._whole(), whole)
        chain = model.chain
        fmus = {part.name: self._built(part) for part in self._parts}
        state = PartsAtStart(fmus, self._owner, self._folder / "initial")
        try:
            ropes = self._ropes(chain, state)
            bushings, step = self._bushings(state) if self._pins else ({}, self._step)
            starts = {cut.name: state.motion(cut) for cut in self._pins}
        finally:
            state.close()
        fmus |= {element: PartFmu(self._law(cut)) for element, cut in ropes.items()}
        simulation = chain.simulation
        experiment = (simulation.stop, self._step, simulation.tolerance)
        same, modes = [*self._same(whole, fmus)], frequencies(model, whole)
        system = CutSystem(name, fmus, whole, self._owner, same, modes, experiment)
        if not self._pins:
            return {"rope": system.write(out / f"{name}_rope.ssp", (), ropes)}, {}
        laws = {free(f"{cut.name}_bushing", self._taken): cut for cut in self._pins}
        for element, cut in laws.items():
            law = bushing(element, cut, bushings[cut.name], starts[cut.name])
            self._builder.law(law, chain, self._law(cut))
        system_of_bushings = replace(system, experiment=(simulation.stop, step, simulation.tolerance))
        every = replace(
            system_of_bushings, fmus=fmus | {element: PartFmu(self._law(cut)) for element, cut in laws.items()}
        )
        return {
            "rigid": system.write(out / f"{name}_rigid.ssp", self._pins, ropes),
            "bushing": every.write(out / f"{name}_bushing.ssp", (), ropes | laws),
        }, bushings

    def _law(self, cut: Cut) -> Path:
        return self._folder / f"law_{cut.name}.fmu"

    def _whole(self) -> Tables:
        """Return the description of the uncut mechanism, extended by outputs for the points of cut joints."""
        tables = tables_of(self._model.chain)
        ends = {
            pair.port: {"link": pair.sides[0].link, "position": list(pair.sides[0].position)}
            for cut in self._pins
            for pair in cut.pairs
        }
        return tables | {"points": tables.get("points", {}) | ends}

    def _built(self, part: MachinePart) -> PartFmu:
        ports = [p.port for cut in self._cuts for p in cut.pairs if part.links & {side.link for side in p.sides}]
        fmu = self._folder / f"{part.name}.fmu"
        self._builder.machine(part.tables, fmu, ports, part.name)
        tolerance = max(_FINER * self._model.chain.simulation.tolerance, _FINEST)
        return PartFmu(fmu, {"solver_tolerance": tolerance, **part.start})

    def _ropes(self, chain: Description, state: PartsAtStart) -> dict[str, Cut]:
        """Build the FMUs of the cut ropes, and apply the initial rope forces to the parts.

        The result maps the name of each rope's SSP element to its cut.
        """
        found = {}
        for cut in self._cuts:
            if cut.line is not None:
                self._builder.law(rope(cut.name, cut.line, chain, state.motion(cut)), chain, self._law(cut))
                state.act(cut, self._law(cut))
                found[free(cut.name, self._taken)] = cut
        return found

    def _bushings(self, state: PartsAtStart) -> tuple[dict[str, Bushing], float]:
        """Return the spring-dampers that replace cut joints, and a communication step, s, suitable for them.

        The keys of the spring-dampers are the names of the cuts.
        """
        statics, options, step = state.statics(self._pins), self._options, self._step
        joints = {cut.name: [pair.port for pair in cut.pairs] for cut in self._pins}
        most = _DEFLECTION * self._model.solvability.extent
        if options.step is None and options.stiffness is None:
            step = statics.step([*joints.values()], step, most)
        found = {}
        for name, ports in joints.items():
            stiffness, damping = statics.bushing(ports, step)
            preload = {port: statics.forces[port] for port in ports}
            found[name] = Bushing(options.stiffness or stiffness, options.damping or damping, preload)
        self.notes += _about_bushings(found, most, step, self._step)
        return found, step

    def _same(self, whole: Path, fmus: Mapping[str, PartFmu]) -> Iterator[tuple[str, str]]:
        """Yield each output of a part or rope, and the equivalent output of the uncut mechanism."""
        signals = self._model.signals
        outputs = {v.name for v in read_fmu(whole).modelVariables if v.causality == "output"}
        for element, part in fmus.items():
            for variable in read_fmu(part.fmu).modelVariables:
                name = variable.name
                known = signals.get(name)
                if variable.causality != "output" or name not in outputs or known is None:
                    continue
                if known.origin.kind in _EQUAL and known.quantity not in _JUMPING:
                    yield f"{element}.{name}", name
        for cut in self._pins:
            for pair in cut.pairs:
                for member in (*AXES, *(f"v{axis}" for axis in AXES)):
                    yield f"{self._owner[pair.sides[0].link]}.{pair.port}.{member}", f"{pair.port}_{member}"


def _about_bushings(found: Mapping[str, Bushing], most: float, step: float, usual: float) -> Iterator[str]:
    """Yield notes about soft bushings, and about a communication step shortened for stiff bushings.

    A bushing is a spring-damper that replaces a joint.

    Parameters
    ----------
    found : stiffness, damping and preload of the bushings, by name of the cut
    most : largest deflection without a note, m
    step : communication step of the SSP archive that contains the bushings, s
    usual : communication step of the SSP archive without bushings, s
    """
    share = f"{100 * _DEFLECTION:g} % of the mechanism's extent"
    if step < usual:
        yield f"the archive with bushings has a communication step of {step:.3g} s, for a deflection below {share}"
    for name, one in found.items():
        if one.deflection > 1.01 * most:
            ratio = one.deflection / most
            yield (
                f"bushing at {name}: a deflection of {one.deflection:.2g} m is {ratio:.2g} times {share}; use a"
                f" --step below {step / ratio**0.5:.2g} s or a --stiffness above {one.stiffness * ratio:.2g} N/m"
            )


def _about_start(part: MachinePart) -> Iterator[str]:
    if part.start:
        yield "Deflections of base and beams at the start are parameters of the FMU, given in the archive:"
        yield ", ".join(f"{name} = {value:.6g}" for name, value in part.start.items() if value) or "all are zero"


def _relocated(tables: Tables, folder: Path) -> Tables:
    """Return the tables of a description, with file paths relative to the given folder."""

    def placed(key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: placed(name, member) for name, member in value.items()}
        if isinstance(value, list):
            return [placed(key, member) for member in value]
        return Path(os.path.relpath(value, folder)).as_posix() if key == "file" else value

    return {key: placed(key, value) for key, value in tables.items()}
