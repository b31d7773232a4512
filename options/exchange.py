"""Options of tasks that read and write files of other formats."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from .option import Option


@dataclass(frozen=True)
class ImportOptions:
    """Options of `import urdf`."""

    file: Annotated[
        Path,
        Option("robot, URDF; expand xacro first: xacro robot.urdf.xacro > robot.urdf", positional=True),
    ]
    base: Annotated[str, Option("fixed: the root link stands still | floating: it moves freely")] = "fixed"
    out: Annotated[Path | None, Option("TOML file to write (default: the robot's name)")] = None


@dataclass(frozen=True)
class ExportOptions:
    """Options of `export urdf`."""

    out: Annotated[Path | None, Option("URDF file to write (default: Name.urdf)")] = None


@dataclass(frozen=True)
class NewOptions:
    """Options of `new`."""

    name: Annotated[str, Option("name of an example, such as crane", positional=True)]
    out: Annotated[Path, Option("folder of the copy")] = Path()


@dataclass(frozen=True)
class ReactionsOptions:
    """Options of `reactions`."""

    out: Annotated[Path | None, Option("folder for reactions.json (default: none)")] = None
