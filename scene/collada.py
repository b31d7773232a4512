"""Reader of the triangles in COLLADA files (.dae)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from ..core.input_files import read_text

Array = NDArray[np.float64]
_LARGEST = 100_000_000  # A COLLADA file may have at most this size, bytes.
_DEEPEST = 100  # Nodes in a COLLADA file may be nested at most this deeply.


def read_collada(path: Path) -> tuple[Array, NDArray[np.int64]]:
    """Return vertices, m, shape (V, 3), and triangles, shape (F, 3), of the scene in a COLLADA file.

    The length unit of the file and the transformations of its nodes are applied. The coordinate axes
    are those of the file; the tag `up_axis` is ignored.

    Raises
    ------
    ValueError
        If the file is not valid XML or refers to elements that do not exist.
    """
    options = {"resolve_entities": False, "no_network": True, "load_dtd": False, "remove_comments": True}
    # Without `huge_tree`, lxml rejects the long texts of mesh coordinates.
    parser = etree.XMLParser(huge_tree=True, **options)
    try:
        root = etree.fromstring(read_text(path, _LARGEST).encode(), parser)
    except etree.XMLSyntaxError as error:
        raise ValueError(f"the file is not valid XML: {error.msg}") from None
    return _Collada(root).triangles()


class _Collada:
    def __init__(self, root: etree._Element) -> None:
        for element in root.iter(etree.Element):
            element.tag = etree.QName(element).localname
        self.root = root
        self.known = {element.get("id"): element for element in root.iter(etree.Element)}
        unit = root.find("asset/unit")
        self.unit = 1.0 if unit is None else float(unit.get("meter", 1.0))

    def triangles(self) -> tuple[Array, NDArray[np.int64]]:
        scenes = self.root.findall("library_visual_scenes/visual_scene")
        nodes = [node for scene in scenes[:1] for node in scene.iterchildren("node")]
        corners = [part for node in nodes for part in self.node(node, np.eye(4), 0)]
        if not corners:
            return np.empty((0, 3)), np.empty((0, 3), dtype=np.int64)
        vertices = self.unit * np.concatenate(corners).reshape(-1, 3)
        found, index = np.unique(vertices, axis=0, return_inverse=True)
        return found, np.asarray(index, dtype=np.int64).reshape(-1, 3)

    def node(self, node: etree._Element, above: Array, depth: int) -> Iterator[Array]:
        """Yield the triangles in a node and in all nodes below it.

        Each array contains the corners of F triangles and has the shape (F, 3, 3).
        """
        if depth > _DEEPEST:
            raise ValueError(f"expected nodes nested in at most {_DEEPEST} levels, found more")
        pose = above
        for element in node.iterchildren(*_TRANSFORMS):
            pose = pose @ _TRANSFORMS[str(element.tag)](_numbers(element))
        for instance in node.iterchildren("instance_geometry"):
            for corners in self.geometry(self.target(instance, "url")):
                yield corners @ pose[:3, :3].T + pose[:3, 3]
        for instance in node.iterchildren("instance_node"):
            yield from self.node(self.target(instance, "url"), pose, depth + 1)
        for child in node.iterchildren("node"):
            yield from self.node(child, pose, depth + 1)

    def geometry(self, geometry: etree._Element) -> Iterator[Array]:
        for part in geometry.iterfind("mesh/*"):
            if part.tag in ("triangles", "polylist", "polygons"):
                yield self.part(part)

    def part(self, part: etree._Element) -> Array:
        """Divide the polygons in one XML element into F triangles; return the corners, shape (F, 3, 3)."""
        inputs = list(part.iterchildren("input"))
        stride = 1 + max(int(x.get("offset", 0)) for x in inputs)
        vertex = next(x for x in inputs if x.get("semantic") == "VERTEX")
        positions = self.positions(self.target(vertex, "source"))
        lists = [
            _numbers(p).astype(np.int64)[int(vertex.get("offset", 0)) :: stride] for p in part.iterchildren("p")
        ]
        counts = part.find("vcount")
        if counts is not None:
            ends = np.cumsum(_numbers(counts).astype(np.int64))
            polygons = np.split(np.concatenate(lists), ends[:-1])
        elif part.tag == "polygons":
            polygons = lists
        else:
            return positions[np.concatenate(lists).reshape(-1, 3)]
        fans = [(p[0], p[k], p[k + 1]) for p in polygons for k in range(1, len(p) - 1)]
        return positions[np.array(fans, dtype=np.int64).reshape(-1, 3)]

    def positions(self, vertices: etree._Element) -> Array:
        source = next(x for x in vertices.iterchildren("input") if x.get("semantic") == "POSITION")
        accessor = self.target(source, "source").find("technique_common/accessor")
        if accessor is None:
            raise ValueError("the <source> element with the vertex positions has no <accessor> element")
        stride = int(accessor.get("stride", 3))
        return _numbers(self.target(accessor, "source")).reshape(-1, stride)[:, :3]

    def target(self, element: etree._Element, key: str) -> etree._Element:
        """Return the XML element to which an attribute of another element refers."""
        name = str(element.get(key, "")).removeprefix("#")
        if name not in self.known:
            raise ValueError(f"there is no XML element with the id {name[:60]!r}")
        return self.known[name]


def _numbers(element: etree._Element) -> Array:
    return np.array((element.text or "").split(), dtype=float)


def _translation(numbers: Array) -> Array:
    pose = np.eye(4)
    pose[:3, 3] = numbers
    return pose


def _rotation(numbers: Array) -> Array:
    """Return a rotation as a homogeneous matrix, shape (4, 4).

    The argument contains the three components of the axis, and the angle in degrees.
    """
    axis, angle = numbers[:3] / np.linalg.norm(numbers[:3]), np.radians(numbers[3])
    # The matrix product `cross @ v` is the vector product of the rotation axis and the vector v.
    cross = np.cross(axis, np.eye(3)).T
    pose = np.eye(4)
    pose[:3, :3] += np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    return pose


_TRANSFORMS: dict[str, Callable[[Array], Array]] = {
    "matrix": lambda numbers: numbers.reshape(4, 4),
    "translate": _translation,
    "rotate": _rotation,
    "scale": lambda numbers: np.diag([*numbers, 1.0]),
}
