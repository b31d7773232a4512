"""Options of the commands `import`, `export`, `new` and `reactions`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from .option import Option


@dataclass(frozen=True)
class ImportOptions:
    """Options of the command `import urdf`."""

    file: Annotated[
        Path,
        Option(
            "URDF file of a robot; expand xacro macros first: xacro robot.urdf.xacro > robot.urdf", positional=True
        ),
    ]
    base: Annotated[
        str, Option("joint of the root link: fixed, to the ground | floating, with six degrees of freedom")
    ] = "fixed"
    out: Annotated[Path | None, Option("TOML file to write (default: the name of the robot)")] = None
    density: Annotated[
        float | None, Option("density in kg/m3 by which links without inertia get the mass of their shapes")
    ] = None


@dataclass(frozen=True)
class ExportOptions:
    """Options of the command `export urdf`."""

    out: Annotated[Path | None, Option("URDF file to write (default: Name.urdf)")] = None


@dataclass(frozen=True)
class NewOptions:
    """Options of the command `new`."""

    kind: Annotated[
        str,
        Option("with NAME: crane, arm, linkage or empty; without NAME: an example to copy", positional=True),
    ]
    name: Annotated[str | None, Option("name of the new mechanism, and of its file", positional=True)] = None
    out: Annotated[Path, Option("folder for the files")] = Path()


@dataclass(frozen=True)
class ReactionsOptions:
    """Options of the command `reactions`."""

    out: Annotated[Path | None, Option("folder for reactions.json (default: none)")] = None
