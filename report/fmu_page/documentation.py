"""`documentation/index.html` of an FMU: description, variables, and instructions to use and rebuild the FMU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...analysis.system import System
from ...core.templates import fill
from ...core.version import __version__
from ...fmu.compilers.binaries import FLAGS, Toolchain
from ...fmu.compilers.platforms import here
from ...generator import variables
from ...generator.program.items import TreeSolve
from ...generator.variables import Variable
from .. import tables
from ..page import ReportPage
from ..plots import Picture
from ..plots.inline_svg import inline_svg
from ..plots.number_text import NOTHING, decimal, unit_text
from ..tables import Kind, TextTable, tabulate

_TITLES = {
    "input": "Inputs",
    "output": "Outputs",
    "parameter": "Parameters of the model",
    "setting": "Settings of the FMU's own solver",
    "other": "Time, derivatives and counters",
}


def page(model: System, fmi: str, made_by: Sequence[Toolchain], picture: Picture | None) -> str:
    """Return the FMU's documentation as HTML that needs no other file."""
    mechanism, program = model.mechanism, model.program
    grouped = _grouped(variables.table(program))
    return fill(
        "report/fmu_page/fmu.html.jinja",
        ReportPage(
            name=model.name,
            case="",
            description=program.description,
            verdict=f"FMI {fmi}",
            findings=[(f"FMI {fmi}", _sentence(made_by))],
            numbers=_numbers(model, grouped),
            content=(),
        ).values()
        | {
            "picture": picture and (picture, inline_svg(picture.svg, picture.name, picture.title)),
            "facts": program.info | ({"accelerations": model.accelerations} if model.accelerations else {}),
            "simulation": model.chain.simulation,
            "rows": model.rows,
            "formulation": model.chain.constraints.formulation,
            "choice": _choice(model),
            "projection": bool(program.projections),
            "friction": any(c.friction is not None for c in mechanism.coordinates),
            "bodies": tables.bodies(mechanism),
            "knife_edges": tables.knife_edges(mechanism),
            "closures": tables.closures(mechanism),
            "task": tables.task(mechanism),
            "forces": tables.forces(mechanism),
            "variables": {_TITLES[group]: (group, _table(entries)) for group, entries in grouped.items()},
            "toolchains": _toolchains(made_by),
            "commands": _commands(model.name, fmi, made_by),
            "version": __version__,
        },
    )


def _choice(model: System) -> str:
    """Return a clause that says how the native FMU chooses the dependent coordinates.

    The clause is empty if the choice is fixed.
    """
    if not model.chooses:
        return ""
    if any(isinstance(item, TreeSolve) for item in model.native_program.items):
        return ", which the recursion over the bodies does not need; those of the initial state are below"
    return ", chosen again at every evaluation; those of the initial state are below"


def _sentence(made_by: Sequence[Toolchain]) -> str:
    names = ", ".join(toolchain.platform.name for toolchain in made_by)
    processors = {
        "": "",
        "native": " on processors like the one that it was built on",
        "x86-64-v3": " on processors with AVX2 and FMA (x86-64-v3)",
    }[made_by[0].march]
    return f"Model exchange and co-simulation, for {names}{processors}; needs nothing but the system's C library."


def _numbers(model: System, variables: dict[str, list[Variable]]) -> list[tuple[str, str]]:
    counts = {
        "coordinates": model.mechanism.n,
        "degrees of freedom": model.degrees_of_freedom,
        "constraint equations": len(model.rows),
        "states": len(model.program.states),
        "inputs": len(variables["input"]),
        "outputs": len(variables["output"]),
        "parameters": len(variables["parameter"]),
    }
    return [(label.removesuffix("s") if count == 1 else label, str(count)) for label, count in counts.items()]


def _grouped(variables: Iterable[Variable]) -> dict[str, list[Variable]]:
    groups: dict[str, list[Variable]] = {group: [] for group in _TITLES}
    for variable in variables:
        causality = variable.causality if variable.causality in groups else "other"
        solver = causality == "parameter" and variable.kind != "parameter"
        groups["setting" if solver else causality].append(variable)
    return groups


def _table(variables: Sequence[Variable]) -> TextTable:
    columns: list[tuple[str, Kind, Callable[[Variable], str]]] = [
        ("variable", "code", lambda v: v.name),
        ("unit", "text", lambda v: unit_text(v.unit) if v.unit else NOTHING),
        ("start", "number", lambda v: NOTHING if v.start is None else decimal(v.start, 12)),
        ("meaning", "text", lambda v: v.description),
    ]
    return tabulate(columns, variables)


def _toolchains(made_by: Sequence[Toolchain]) -> TextTable:
    columns: list[tuple[str, Kind, Callable[[Toolchain], str]]] = [
        ("folder", "code", lambda t: f"binaries/{t.platform.name}"),
        ("runs on", "text", _systems),
        ("compiler", "text", lambda t: t.compilers[0].version),
    ]
    return tabulate(columns, made_by)


def _systems(toolchain: Toolchain) -> str:
    if toolchain.platform.is_webassembly:
        return "any system, by an engine for WebAssembly components"
    return ", ".join(toolchain.platform.systems)


def _commands(name: str, fmi: str, made_by: Sequence[Toolchain]) -> dict[str, str]:
    """Return the commands that rebuild the shared library of the FMU.

    The command `here` is for the FMU's own platform. The command `elsewhere` builds a library for
    Windows by the cross compiler ziglang.
    """
    shared = [toolchain for toolchain in made_by if not toolchain.platform.is_webassembly]
    target, flags = (shared[0].platform, shared[0].flags) if shared else (here(fmi), FLAGS)
    own, foreign = (f"-std=c99 {' '.join(options)} -shared" for options in (flags, FLAGS))
    library = f"../binaries/{target.name}/{name}{target.suffix}"
    cross = "python -m ziglang cc -target x86_64-windows-gnu -mcpu=baseline"
    return {
        "here": f"cc {own} -fPIC *.c -o {library} -lm",
        "elsewhere": f"{cross} {foreign} -s *.c -o {name}.dll",
    }
