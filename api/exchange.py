"""Import of models from URDF files (Unified Robot Description Format), and export to URDF."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import analysis, mechanism
from ..core.errors import DescriptionError, Problem
from ..core.version import __version__
from ..description import Description
from ..description.load import from_data
from ..exchange.export_urdf import Exported, exported
from ..exchange.import_urdf import imported, relocated
from ..exchange.toml_text import toml_text
from ..exchange.urdf import read_urdf
from ..options.checks import above_zero, one_of
from .model import Model

BASES = ("fixed", "floating")


@dataclass(frozen=True)
class Conversion:
    """Result of converting a file of another format to a description.

    Parameters
    ----------
    text
        Contents of the TOML file.
    name
        Name of the mechanism.
    description
        Validated description, or a DescriptionError if the description is invalid or its mass
        matrix is singular in all positions.
    notes
        Sentences about changes and omissions of the conversion.
    """

    text: str
    name: str
    description: Description | DescriptionError
    notes: tuple[str, ...]

    @property
    def valid(self) -> Description:
        """Validated description.

        Raises
        ------
        DescriptionError
            If the converted description is invalid.
        """
        if isinstance(self.description, DescriptionError):
            raise self.description
        return self.description


def convert_urdf(
    path: Path, base: str = "fixed", folder: Path | None = None, density: float | None = None
) -> Conversion:
    """Convert the robot of a URDF file to a description.

    If the description is invalid, for example because inertia is missing, the result still contains
    the TOML text. Users can then complete this text.

    Parameters
    ----------
    path
        URDF file.
    base
        Joint of the root link: `fixed` or `floating`, as in `from_urdf`.
    folder
        Folder of the TOML file. Mesh paths in the description are relative to this folder. Default:
        the working folder.
    density
        Density, kg/m³, from which mass and inertia are computed for links that have only a shape.

    Returns
    -------
    Conversion
        Text and description with notes.

    Raises
    ------
    DescriptionError
        If the file is invalid.
    """
    one_of("base", base, BASES)
    if density is not None:
        above_zero("density", density)
    robot = imported(read_urdf(path), base == "floating", path.name, density)
    head = [f"written by gpmelica {__version__} from {path.name}", *robot.notes]
    text = toml_text(relocated(robot, folder or Path()), head)
    try:
        description = from_data(tomllib.loads(toml_text(robot, head)), source=str(path))
        notes = (*robot.notes, *_without_mass(str(path), description))
    except DescriptionError as error:
        return Conversion(text, robot.name, _hinted(error, base), robot.notes)
    return Conversion(text, robot.name, description, notes)


def _without_mass(source: str, description: Description) -> list[str]:
    """Return notes on massless bodies that make the mass matrix singular in the initial state.

    Raises
    ------
    DescriptionError
        If the mass matrix is singular in all states.
    """
    numbers = analysis.ReferenceModel(mechanism.build(description))
    start = np.array([coordinate.position for coordinate in numbers.mechanism.coordinates])
    problems = analysis.massless(numbers, analysis.elsewhere(start))
    if problems:
        raise DescriptionError(source, [Problem("", problem.message) for problem in problems])
    return [
        f"the initial state is inadmissible: {problem.message}" for problem in analysis.massless(numbers, start)
    ]


def from_urdf(path: Path | str, base: str = "fixed", *, density: float | None = None) -> Model:
    """Import the robot of a URDF file (Unified Robot Description Format) as a model.

    Parameters
    ----------
    path
        URDF file. Expand xacro macros in the file first.
    base
        Joint of the root link: `fixed` attaches the root link to the ground, `floating` gives the root
        link six degrees of freedom.
    density
        Density, kg/m³, for links that have a shape but no inertia in the file. Mass and inertia are
        computed from the shape. Default: such links have no mass.

    Returns
    -------
    Model
        Model of the robot. `Model.notes` lists changes and omissions of the import.

    Raises
    ------
    DescriptionError
        If the file is invalid; the error contains all problems.

    Examples
    --------
    >>> from pathlib import Path
    >>> import gpmelica as gp
    >>> robot = gp.to_urdf(gp.load("examples/crane.toml"))
    >>> _ = Path("crane.urdf").write_text(robot.text)
    >>> gp.from_urdf("crane.urdf")
    <Model Crane of crane.urdf>
    """
    found = convert_urdf(Path(path), base, density=density)
    return Model(found.valid, str(path), notes=found.notes)


def to_urdf(model: Model) -> Exported:
    """Export the tree of bodies and joints as URDF (Unified Robot Description Format).

    Parameters
    ----------
    model
        Model to export.

    Returns
    -------
    Exported
        Text of the URDF file, and notes on elements without a counterpart in URDF.

    Raises
    ------
    DescriptionError
        If the model cannot be built.

    Examples
    --------
    >>> import gpmelica as gp
    >>> robot = gp.to_urdf(gp.load("examples/crane.toml"))
    >>> print(robot.text[:20])
    <robot name="Crane">
    """
    return exported(model.description)


def _hinted(error: DescriptionError, base: str) -> DescriptionError:
    """Add a hint to an import error: a floating base may be missing if nothing can move.

    The given error is returned unchanged if `base` is not `fixed`.
    """
    hint = "; use --base floating to let the root link move" if base == "fixed" else ""
    problems = [Problem(p.where, p.message + hint * ("nothing can move" in p.message)) for p in error.problems]
    return DescriptionError(error.source, problems)
