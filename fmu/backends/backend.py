"""The backends that there are, and how one is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ...analysis.prepared import Prepared
from ...core.errors import MissingToolError
from ...core.files import write_all
from ...generator import modelica
from . import openmodelica
from .fmu import Backend
from .native import Native
from .omc import OpenModelica

# name → the backend with its tool, by the user's options; raises MissingToolError where the tool is not there
BACKENDS: dict[str, Callable[[str | None, float], Backend]] = {
    "openmodelica": lambda omc, timeout: OpenModelica(openmodelica.find(omc), timeout),
    "native": lambda omc, timeout: Native(),
}
CHOICES = ("auto", *sorted(BACKENDS))


@dataclass(frozen=True)
class Compilers:
    """Backends that build FMUs, the preferred one first; `timeout`, s, of tools that may hang."""

    backends: tuple[Backend, ...] = (Native(),)
    timeout: float = openmodelica.TIMEOUT


def choose(choice: str, omc: str | None = None, timeout: float = openmodelica.TIMEOUT) -> Compilers:
    """Compilers for a choice: `auto` takes every backend whose tool is found.

    Raises MissingToolError at once if the one that is asked for, or the omc that is named, is not found.
    """
    found: list[Backend] = []
    for name in BACKENDS if choice == "auto" else (choice,):
        try:
            found.append(BACKENDS[name](omc, timeout))
        except MissingToolError:
            if choice == name or omc is not None:
                raise
    return Compilers(tuple(found), timeout)


def write_modelica(model: Prepared, out: Path, *, drives: bool = False) -> list[Path]:
    """Write `Name.mo`, and `Name.mos` that simulates it in omc; `NameDrives.mo`, where asked for."""
    texts = {
        f"{model.name}.mo": model.modelica(),
        f"{model.name}.mos": modelica.script(model.program, model.mechanism),
    }
    if drives:
        texts[f"{model.name}Drives.mo"] = model.modelica_drives()
    return write_all(out, texts)
