"""List of the backends that build FMUs, and functions that select backends from this list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ...analysis.system import System
from ...core.errors import MissingToolError
from ...core.files import write_all
from ...generator import modelica
from . import openmodelica
from .fmu import Backend
from .native import Native
from .omc import OpenModelica

# The constructor of a backend has two arguments: the path of omc or None, and a time limit in s.
# The constructor of a backend raises MissingToolError if the tool of the backend is not installed.
BACKENDS: dict[str, Callable[[str | None, float], Backend]] = {
    "openmodelica": lambda omc, timeout: OpenModelica(openmodelica.find(omc), timeout),
    "native": lambda omc, timeout: Native(),
}
CHOICES = ("auto", *sorted(BACKENDS))


@dataclass(frozen=True)
class Compilers:
    """Backends that build FMUs, in order of preference.

    `timeout` is the time limit, in s, for external tools, because such a tool may hang.
    """

    backends: tuple[Backend, ...] = (Native(),)
    timeout: float = openmodelica.TIMEOUT


def choose(choice: str, omc: str | None = None, timeout: float = openmodelica.TIMEOUT) -> Compilers:
    """Return the backends for the command-line choice of a compiler.

    The choice `auto` selects all backends whose tool is installed.

    Raises
    ------
    MissingToolError
        If the chosen backend, or the given omc, is not found.
    """
    found: list[Backend] = []
    for name in BACKENDS if choice == "auto" else (choice,):
        try:
            found.append(BACKENDS[name](omc, timeout))
        except MissingToolError:
            if choice == name or omc is not None:
                raise
    return Compilers(tuple(found), timeout)


def write_modelica(model: System, out: Path, *, drives: bool = False) -> list[Path]:
    """Write the Modelica model `Name.mo` and the simulation script `Name.mos` for omc.

    With `drives`, a package with connectors of the Modelica Standard Library is written as
    `NameDrives.mo`.
    """
    texts = {
        f"{model.name}.mo": model.modelica(),
        f"{model.name}.mos": modelica.script(model.program, model.mechanism),
    }
    if drives:
        texts[f"{model.name}Drives.mo"] = model.modelica_drives()
    return write_all(out, texts)
