"""Appearance of a link in pictures and animations."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, model_validator

from ..fields.numbers import PlainPositive
from ..fields.types import KeyProblem, Part, Text
from .frame import Frame

_KEYS = {"box": ("size",), "cylinder": ("radius", "length"), "sphere": ("radius",), "mesh": ("file",)}
ENDINGS = (".stl", ".obj", ".dae", ".gltf", ".glb")


def _colour(value: str) -> str:
    if not re.fullmatch("#[0-9a-fA-F]{6}", value):
        raise ValueError(f"expected a colour as #rrggbb, such as '#e69f00', got {value!r}")
    return value


Colour = Annotated[str, AfterValidator(_colour)]


class Shape(Part):
    """Appearance of a link in pictures and animations, without influence on the equations."""

    type: Literal["box", "cylinder", "sphere", "mesh"]
    """Type of the shape. Box, cylinder along z and sphere are centred at the origin of `frame`."""
    size: tuple[PlainPositive, PlainPositive, PlainPositive] | None = None
    """Size of a box along x, y and z, m."""
    radius: PlainPositive | None = None
    """Radius of a cylinder or sphere, m."""
    length: PlainPositive | None = None
    """Length of a cylinder, m."""
    file: Text | None = None
    """Mesh file, STL, OBJ, COLLADA (`.dae`) or glTF, relative to the folder of the description."""
    scale: PlainPositive = 1.0
    """Length unit of the mesh file, m; 0.001 for an STL or OBJ file in mm. COLLADA files give their unit
    themselves, and glTF files are in m."""
    frame: Frame = Frame()
    """Frame of the shape in the link frame."""
    colour: Colour | None = None
    """Colour as `#rrggbb`; default: a colour that no other link has."""

    @model_validator(mode="after")
    def _complete(self) -> Shape:
        wanted = _KEYS[self.type]
        for key in ("size", "radius", "length", "file"):
            given = getattr(self, key) is not None
            if given and key not in wanted:
                raise KeyProblem(
                    key, f"a shape of type {self.type} does not have this key; its keys are {' and '.join(wanted)}"
                )
            if not given and key in wanted:
                raise KeyProblem(
                    key, f"the key is missing; a shape of type {self.type} needs {' and '.join(wanted)}"
                )
        if self.type != "mesh" and self.scale != 1.0:
            raise KeyProblem(
                "scale", f"a scale applies to meshes only; give the {' and '.join(wanted)} of the {self.type} in m"
            )
        if self.file is not None:
            _check_file(Path(self.file))
        return self


def _check_file(path: Path) -> None:
    if path.suffix.lower() not in ENDINGS:
        raise KeyProblem("file", f"expected a file that ends in {' or '.join(ENDINGS)}, got {path.name!r}")
    if not os.path.isfile(path):  # `isfile` is also False for invalid file names
        raise KeyProblem(
            "file", f"there is no file {str(path)!r}; paths are relative to the folder of the description"
        )
