"""Files of other formats → models, and descriptions → such files."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import analysis, mechanism
from ..core.errors import DescriptionError, Problem
from ..core.version import __version__
from ..description import Chain
from ..description.load import from_data
from ..exchange.export_urdf import Exported, exported
from ..exchange.import_urdf import imported, relocated
from ..exchange.toml_text import toml_text
from ..exchange.urdf import read_urdf
from ..options.checks import one_of
from .model import Model

BASES = ("fixed", "floating")


@dataclass(frozen=True)
class Conversion:
    """A file's machine as a description.

    text   TOML
    notes  what was changed or is not carried, in words
    """

    text: str
    description: Chain
    notes: tuple[str, ...]


def convert_urdf(path: Path, base: str = "fixed", folder: Path | None = None) -> Conversion:
    """The description of a URDF file's robot; base: see `from_urdf`.

    folder  where the text will be, for the paths in it; default the working one

    Raises DescriptionError with all that is wrong with the file, or if its robot has no equations of motion.
    """
    one_of("base", base, BASES)
    robot = imported(read_urdf(path), base == "floating", path.name)
    head = [f"written by gpmelica {__version__} from {path.name}", *robot.notes]
    text = toml_text(relocated(robot, folder or Path()), head)
    try:
        description = from_data(tomllib.loads(toml_text(robot, head)), source=str(path))
    except DescriptionError as error:
        raise _hinted(error, base) from None
    return Conversion(text, description, (*robot.notes, *_without_mass(str(path), description)))


def _without_mass(source: str, description: Chain) -> list[str]:
    """Return notes on bodies without mass; raises DescriptionError if no state has a regular mass matrix."""
    numbers = analysis.ReferenceModel(mechanism.build(description))
    start = np.array([coordinate.position for coordinate in numbers.mechanism.coordinates])
    problems = analysis.massless(numbers, analysis.elsewhere(start))
    if problems:
        raise DescriptionError(source, [Problem("", problem.message) for problem in problems])
    return [f"cannot start as it is: {problem.message}" for problem in analysis.massless(numbers, start)]


def from_urdf(path: Path | str, base: str = "fixed") -> Model:
    """The model of a URDF file's robot; its `notes` say what was changed and what is not carried.

    Parameters:
        base  fixed: the root link stands on the ground | floating: it has six coordinates, `free`

    Raises DescriptionError with all that is wrong with the file.
    """
    found = convert_urdf(Path(path), base)
    return Model(found.description, str(path), notes=found.notes)


def to_urdf(model: Model) -> Exported:
    """The tree of a model as URDF, and what URDF cannot say; raises DescriptionError if there is none."""
    return exported(model.description)


def _hinted(error: DescriptionError, base: str) -> DescriptionError:
    """Return the error with a hint for a mechanism that cannot move."""
    hint = "; --base floating lets the root link move" if base == "fixed" else ""
    problems = [Problem(p.where, p.message + hint * ("nothing can move" in p.message)) for p in error.problems]
    return DescriptionError(error.source, problems)
