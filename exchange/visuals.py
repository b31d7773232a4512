"""Conversion of `<visual>` elements in a URDF file to shapes of a description.

Each link gets the shape of the first visual element that a description can represent.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from pathlib import Path
from typing import Any

from lxml import etree
from pydantic import ValidationError

from ..description.tables.shape import ENDINGS, Shape

Table = dict[str, Any]


class Visuals:
    """Shapes of the links in a URDF file.

    The field `left` contains the number of ignored visual elements for each reason.
    """

    def __init__(self, path: Path, robot: etree._Element) -> None:
        self._folder = path.resolve().parent
        self._colours = {m.get("name"): _colour(m) for m in robot.iterchildren("material")}
        self.left: Counter[str] = Counter()

    def shape(self, link: etree._Element) -> Table | None:
        """Return the shape of a URDF link as the table `shape` of a description.

        The result is None if the link has no visual element that a description can represent. The
        paths of mesh files are absolute.
        """
        shape: Table | None = None
        for visual in link.iterchildren("visual"):
            if shape is not None:
                self.left["<visual> of link, after the first"] += 1
                continue
            try:
                shape = self._table(visual)
                Shape.model_validate(shape)
            except ValidationError as error:
                shape = None
                self.left[f"<visual> of link: {_why(error)}"] += 1
            except ValueError as error:
                shape = None
                self.left[f"<visual> of link: {error}"] += 1
        return shape

    def _table(self, visual: etree._Element) -> Table:
        """Return the shape of a visual element as a table.

        Raises
        ------
        ValueError
            If a description cannot represent the shape; the message contains the reason.
        """
        form = next(visual.iterfind("geometry/*"), None)
        if form is None:
            raise ValueError("<geometry> is missing or empty")
        table: Table = {"type": etree.QName(form).localname, **self._form(form)}
        origin = visual.find("origin")
        if origin is not None and "quat_xyzw" in origin.attrib:
            raise ValueError("quat_xyzw of <origin> is not supported; specify roll, pitch and yaw: rpy")
        frame = {key: numbers for key in ("xyz", "rpy") if any(numbers := _numbers(origin, key, "0 0 0"))}
        if frame:
            table["frame"] = frame
        material = visual.find("material")
        colour = None if material is None else _colour(material) or self._colours.get(material.get("name"))
        return table | ({"colour": colour} if colour else {})

    def _form(self, form: etree._Element) -> Table:
        match etree.QName(form).localname:
            case "box":
                return {"size": _numbers(form, "size")}
            case "cylinder":
                return {"radius": _numbers(form, "radius")[0], "length": _numbers(form, "length")[0]}
            case "sphere":
                return {"radius": _numbers(form, "radius")[0]}
            case "mesh":
                scale = _numbers(form, "scale", "1 1 1")
                if len({*scale}) != 1:
                    raise ValueError("a mesh with different scales along x, y and z is not supported")
                file = self._file(str(form.get("filename", "")))
                return {"file": str(file)} | ({"scale": scale[0]} if scale[0] != 1.0 else {})
            case other:
                raise ValueError(f"the geometry {other} is not supported")

    def _file(self, name: str) -> Path:
        """Return the path of a mesh file.

        For a path `package://NAME/…`, the package NAME is searched for in the parent folders of the URDF
        file and in the folders of ROS_PACKAGE_PATH.
        """
        ending = Path(name).suffix.lower()
        if ending not in ENDINGS:
            raise ValueError(f"expected a mesh in STL, OBJ, COLLADA or glTF, got the file {name!r}")
        kind, separator, rest = name.partition("://")
        if not separator:
            return self._folder / name
        if kind != "package":
            return Path(rest)
        others = os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)
        roots = [*self._folder.parents, *map(Path, filter(None, others))]
        return next((root / rest for root in roots if os.path.isfile(root / rest)), Path(rest))


def _numbers(element: etree._Element | None, key: str, default: str = "") -> list[float]:
    text = default if element is None else str(element.get(key, default))
    try:
        found = [float(word) for word in text.split()]
    except ValueError:
        found = []
    if not found or not all(map(math.isfinite, found)):
        raise ValueError(f"the attribute {key} contains no valid numbers")
    return found


def _colour(material: etree._Element) -> str | None:
    try:
        red, green, blue, _ = _numbers(material.find("color"), "rgba")
    except ValueError:
        return None
    return "#" + "".join(f"{round(255 * min(max(part, 0.0), 1.0)):02x}" for part in (red, green, blue))


def _why(error: ValidationError) -> str:
    found = error.errors(include_url=False)[0]
    place = ".".join(map(str, found["loc"]))
    return "the mesh file is missing" if "there is no file" in found["msg"] else f"{place}: {found['msg']}"
