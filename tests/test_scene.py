"""Drawn shapes, frames and forces agree with the mechanism's kinematics."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from awkward_machines.judge import toml
from helpers_loops import four_bar
from helpers_parts import Z, link, machine
from helpers_problem import problem
from helpers_reference import manipulator, mechanism_of
from helpers_report import coordinates_of, crane, poses, prescribed_run
from numpy.typing import NDArray

from gpmelica import scene
from gpmelica.core.errors import DescriptionError
from gpmelica.description.load import load
from gpmelica.mechanism import Mechanism, Place
from gpmelica.scene import Scene, Solid
from gpmelica.scene.mesh import Mesh, coarser, read_mesh

Array = NDArray[np.float64]
RUN = prescribed_run(crane())
CRANE = scene.film(problem(crane()), [replace(RUN, name="run"), RUN])


def at(frames: Array, body: int, local: Array) -> Array:
    """World positions of a point of a body, shape (…, 3)."""
    return scene.in_world(frames, Place(body, local))


def shape_of(found: Scene, link: str, kind: str) -> list[Solid]:
    """Shapes of a link's bodies, in order."""
    return [s for s in found.shapes if found.mechanism.bodies[s.body].link == link and s.kind == kind]


def ends(shape: Solid) -> tuple[Array, Array]:
    """Return the ends of a cylinder in the body frame."""
    half = 0.5 * shape.size[2] * shape.frame[:3, 2]
    return shape.frame[:3, 3] - half, shape.frame[:3, 3] + half


# ---- Frames over time ------------------------------------------------------------------------------------------


def test_frames_are_those_of_the_run() -> None:
    """At instants that film and run share: against kinematics not of the reference, and against point E."""
    shared = [(k, int(np.argmin(np.abs(RUN.time - t)))) for k, t in enumerate(CRANE.time) if k % 6 == 0]
    assert len(shared) > 40
    q = coordinates_of(CRANE.mechanism, RUN.signals)
    tip = CRANE.mechanism.points["E"]
    for k, sample in shared:
        assert CRANE.time[k] == pytest.approx(RUN.time[sample], abs=1e-12)
        frames = CRANE.motions[0].frames[0, k]
        assert frames[0] == pytest.approx(np.eye(4))
        assert frames[1:] == pytest.approx(poses(CRANE.mechanism)(q[sample]), abs=1e-9)
        position = [RUN.signals[f"E_{axis}"][sample] for axis in "xyz"]
        assert scene.in_world(frames, tip) == pytest.approx(position, abs=1e-9)


def test_frames_between_samples_follow_the_motion() -> None:
    """Third-order interpolation of a run with 100 samples per second: errors of a few micrometres."""
    exact = prescribed_run(crane(), stop=2.0)
    coarse = replace(exact, time=exact.time[::2], signals={n: v[::2] for n, v in exact.signals.items()})
    found = scene.film(problem(crane()), [coarse])
    samples = [round(t * 100) for t in found.time[::12]]
    truth = poses(crane())
    q = coordinates_of(crane(), exact.signals)
    for frame, sample in zip(found.motions[0].frames[0, ::12, 1:], samples, strict=True):
        assert frame == pytest.approx(truth(q[sample]), abs=5e-5)


def test_deformation_is_drawn_larger_by_the_beams_coordinates() -> None:
    """Scale 1 is the motion itself; at the others the angles between elements alone are larger."""
    assert CRANE.scales[0] == 1.0 and len(CRANE.scales) == 4
    elastic = np.array([c.role == "elastic" for c in CRANE.mechanism.coordinates])
    q = coordinates_of(CRANE.mechanism, RUN.signals)[-1]
    for scale, frames in zip(CRANE.scales, CRANE.motions[1].frames[:, -1, 1:], strict=True):
        assert frames == pytest.approx(poses(CRANE.mechanism)(np.where(elastic, scale * q, q)), abs=1e-9)


def test_shortened_run_ends_with_its_last_frame() -> None:
    """Only frames that the run has reached are shown; a NaN ends the run."""
    half = RUN.time <= 1.0
    short = replace(RUN, time=RUN.time[half], signals={n: v[half] for n, v in RUN.signals.items()})
    broken = replace(
        RUN, signals=RUN.signals | {"column_angle": np.where(half, RUN.signals["column_angle"], np.nan)}
    )
    found = scene.film(problem(crane()), [short, broken, RUN])
    counts = [motion.count for motion in found.motions]
    assert counts == [121, 121, 241]
    for motion in found.motions[:2]:
        assert np.isfinite(motion.frames).all()
        assert motion.frames[0, -1] == pytest.approx(motion.frames[0, 120])


@pytest.mark.slow
@pytest.mark.parametrize(("stop", "frames"), [(0.01, 241), (10.0, 601), (3600.0, 1801)])
def test_frames_per_second(stop: float, frames: int) -> None:
    """60 in a second of the model, but enough of a short run and not too many of a long one."""
    mechanism = mechanism_of(manipulator())
    names = [c.symbol for c in mechanism.coordinates]
    time = np.linspace(0.0, stop, 11)
    run = replace(RUN, time=time, signals={n + end: 0 * time for n in names for end in ("", "_dot")})
    assert len(scene.film(problem(mechanism), [run]).time) == frames


# ---- Shapes ----------------------------------------------------------------------------------------------------


def test_boxes_have_the_bodies_inertia() -> None:
    """A homogeneous box about the centre of mass has the principal moments of the body: m (a² + b²)/12 about
    each axis.
    """
    for name in ("base", "column", "jib"):
        (box,) = shape_of(CRANE, name, "box")
        body = CRANE.mechanism.bodies[box.body]
        x, y, z = box.size**2
        own = np.diag(float(body.mass) / 12 * np.array([y + z, z + x, x + y]))
        R = box.frame[:3, :3]
        assert np.linalg.det(R) == pytest.approx(1.0)
        assert R @ own @ R.T == pytest.approx(np.asarray(body.inertia, dtype=float), rel=0.02, abs=1.0)
        assert box.frame[:3, 3] == pytest.approx(body.com)


def test_boxes_of_turned_inertia() -> None:
    """Products of inertia turn the box."""
    data = manipulator()
    turned = np.array([[0.0, -1.0, 0.0], [0.6, 0.0, -0.8], [0.8, 0.0, 0.6]])
    inertia = turned @ np.diag([0.05, 0.1, 0.12]) @ turned.T
    data["links"][0]["inertia"] = ((inertia + inertia.T) / 2).tolist()
    found = scene.still(problem(mechanism_of(data), (np.zeros(2), np.zeros(2))))
    (box,) = shape_of(found, "upper", "box")
    moments = 2.0 / 12 * (np.sum(box.size**2) - box.size**2)
    R = box.frame[:3, :3]
    assert np.linalg.det(R) == pytest.approx(1.0)
    assert R @ np.diag(moments) @ R.T == pytest.approx(inertia, abs=1e-9)


def test_tubes_of_a_beam_meet() -> None:
    """From its joint to its end, whatever the deformation: each tube ends where the next one begins."""
    tubes = shape_of(CRANE, "boom", "cylinder")
    assert len(tubes) == 4
    assert sum(tube.size[2] for tube in tubes) == pytest.approx(2.0)
    for frames in (CRANE.motions[0].frames[0, 50], CRANE.motions[0].frames[-1, 50]):
        for one, other in pairwise(tubes):
            end, start = at(frames, one.body, ends(one)[1]), at(frames, other.body, ends(other)[0])
            assert end == pytest.approx(start, abs=1e-12)
        jib = next(b for b, body in enumerate(CRANE.mechanism.bodies) if body.link == "jib")
        assert at(frames, tubes[-1].body, ends(tubes[-1])[1]) == pytest.approx(at(frames, jib, np.zeros(3)))


def test_rods_reach_all_that_a_body_holds() -> None:
    """Joints and closures of a loop: some shape of each link is there."""
    mechanism = mechanism_of(four_bar())
    found = scene.still(
        problem(mechanism, (np.array([c.position for c in mechanism.coordinates]), np.zeros(mechanism.n)))
    )
    for b, held in enumerate(scene.held_at(mechanism)):
        own = [shape for shape in found.shapes if shape.body == b]
        for place in held:
            local = [np.linalg.inv(s.frame) @ [*place, 1.0] for s in own]
            inside = [np.all(np.abs(x[:3]) <= 0.5 * s.size + 1e-9) for x, s in zip(local, own, strict=True)]
            assert any(inside), (mechanism.bodies[b].name, place)
    assert [bar.name for bar in found.bars] == [closure.name for closure in mechanism.closures]


def test_supports_stand_on_the_ground() -> None:
    """A mark for each, with the force of its springs; and one for the torque on the column."""
    kinds = [mark.kind for mark in CRANE.marks]
    assert kinds == ["support"] * 8 + ["moment"]
    assert CRANE.acting.shape == (len(CRANE.time), 9, 3)
    given = CRANE.mechanism.chain.base
    assert given is not None
    for mark, support in zip(CRANE.marks[:8], given.supports, strict=True):
        assert mark.b is not None
        assert at(CRANE.motions[0].frames[0, 0], mark.b.body, mark.b.position) == pytest.approx(support.position)


def shaped(**shape: Any) -> Mechanism:
    """An arm whose first link has a shape."""
    data = manipulator()
    data["links"][0]["shape"] = shape
    return mechanism_of(data)


def only_shape(**shape: Any) -> Solid:
    found = scene.still(problem(shaped(**shape), (np.zeros(2), np.zeros(2))))
    (own,) = [s for s in found.shapes if s.body == 0]
    return own


def test_described_shapes() -> None:
    """Sizes and frame are the description's, and nothing else is drawn of the link."""
    box = only_shape(type="box", size=[1.0, 0.2, 0.3], frame={"xyz": [0.5, 0.0, 0.0]}, colour="#112233")
    assert (box.kind, box.size.tolist(), box.colour) == ("box", [1.0, 0.2, 0.3], "#112233")
    assert box.frame[:3, 3].tolist() == [0.5, 0.0, 0.0]
    assert only_shape(type="cylinder", radius=0.1, length=0.7).size.tolist() == [0.2, 0.2, 0.7]
    assert only_shape(type="sphere", radius=0.1).size.tolist() == [0.2, 0.2, 0.2]


TETRAHEDRON = "v 0 0 0\nv 100 0 0\nv 0 100 0\nv 0 0 100\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def test_meshes_from_files(tmp_path: Path) -> None:
    """Beside the description, whatever the working directory; in its unit."""
    (tmp_path / "part.obj").write_text(TETRAHEDRON)
    shape = {"type": "mesh", "file": "part.obj", "scale": 0.001}
    cases = [{"name": "other", "set": {"links.arm.shape.file": "part.obj"}}]
    (tmp_path / "arm.toml").write_text(toml(machine(link("arm", "revolute", Z) | {"shape": shape}, cases=cases)))
    for case in (None, "other"):
        chain = load(tmp_path / "arm.toml", case)
        assert chain.links[0].shape is not None
        assert Path(chain.links[0].shape.file or "") == tmp_path / "part.obj"
    own = only_shape(type="mesh", file=str(tmp_path / "part.obj"), scale=0.001)
    assert own.mesh is not None
    assert (len(own.mesh.faces), np.ptp(own.mesh.vertices), own.size[0]) == (4, 100.0, 0.001)


COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="0.01"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="12">0 0 0 100 0 0 100 50 0 0 50 0</float_array>
<technique_common><accessor source="#a" count="4" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
PART</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><rotate>0 0 1 90</rotate>
<node><translate>0 0 10</translate><instance_geometry url="#g"/></node></node></visual_scene>
</library_visual_scenes>
</COLLADA>
"""
INPUTS = '<input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#n" offset="1"/>'
PARTS = {
    "triangles": "<p>0 9 1 9 2 9 0 9 2 9 3 9</p>",
    "polylist": "<vcount>4</vcount><p>0 9 1 9 2 9 3 9</p>",
    "polygons": "<p>0 9 1 9 2 9 3 9</p>",
}


@pytest.mark.parametrize("kind", PARTS)
def test_collada_files(tmp_path: Path, kind: str) -> None:
    """A rectangle of 1 m by 0.5 m in cm, raised by 0.1 m and turned by 90°, in all forms of polygons."""
    part = f"<{kind}>{INPUTS}{PARTS[kind]}</{kind}>"
    (tmp_path / "a.dae").write_text(COLLADA.replace("PART", part), encoding="utf-8")
    mesh = read_mesh(tmp_path / "a.dae")
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    assert (len(areas), areas.sum()) == (2, pytest.approx(0.5))
    assert mesh.vertices.min(axis=0) == pytest.approx([-0.5, 0.0, 0.1])
    assert mesh.vertices.max(axis=0) == pytest.approx([0.0, 1.0, 0.1])


@pytest.mark.parametrize("ending", [".glb", ".gltf"])
def test_gltf_files(tmp_path: Path, ending: str) -> None:
    """All parts of the scene at their places."""
    scene, box = trimesh.Scene(), trimesh.creation.box(extents=(1.0, 2.0, 3.0))
    for x in (0.0, 5.0):
        scene.add_geometry(box, transform=trimesh.transformations.translation_matrix([x, 0.0, 0.0]))
    files = scene.export(file_type=ending[1:])
    for name, data in files.items() if isinstance(files, dict) else (("model.glb", files),):
        (tmp_path / name).write_bytes(data)
    mesh = read_mesh(tmp_path / f"model{ending}")
    assert (len(mesh.faces), np.ptp(mesh.vertices, axis=0)) == (24, pytest.approx([6.0, 2.0, 3.0]))


def test_large_meshes_become_coarser() -> None:
    """Fewer triangles of nearly the same solid; a small mesh stays."""
    sphere = trimesh.creation.icosphere(subdivisions=5)
    mesh = Mesh(np.array(sphere.vertices), np.array(sphere.faces))
    found = coarser(mesh, 5000)
    assert 2000 < len(found.faces) <= 5000
    assert np.linalg.norm(found.vertices[found.faces], axis=2) == pytest.approx(1.0)
    assert trimesh.Trimesh(found.vertices, found.faces).volume == pytest.approx(sphere.volume, rel=0.02)
    assert coarser(mesh, len(mesh.faces)) is mesh


def test_damaged_meshes(tmp_path: Path) -> None:
    """Said with the file's name."""
    for name, content in (
        ("a.stl", b"solid x\nfacet"),
        ("b.obj", b"\x00\xff"),
        ("c.stl", b""),
        ("d.obj", b"v 0 0 0"),
        ("e.dae", b"<COLLADA/>"),
        ("f.dae", b"<COLLADA"),
        ("g.dae", COLLADA.replace("#g", "#h").encode()),
        ("h.glb", b"glTF"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DescriptionError, match=rf"{name}: (cannot be read as a mesh|has no triangles)"):
            only_shape(type="mesh", file=str(tmp_path / name))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"type": "box"}, "shape.size .*the key is missing; a shape of type box needs size"),
        (
            {"type": "box", "size": [1.0, 1.0, 1.0], "radius": 1.0},
            "shape.radius .*a shape of type box does not have this key",
        ),
        (
            {"type": "cylinder", "radius": 1.0},
            "shape.length .*the key is missing; a shape of type cylinder needs radius and length",
        ),
        ({"type": "sphere", "radius": 1.0, "scale": 0.1}, "shape.scale .*applies to meshes"),
        ({"type": "sphere", "radius": 1.0, "colour": "red"}, "shape.colour .*expected a colour as #rrggbb"),
        ({"type": "mesh", "file": "no.stl"}, "shape.file .*there is no file 'no.stl'"),
        ({"type": "mesh", "file": "part.step"}, "shape.file .*expected a file that ends in .stl or .obj"),
    ],
)
def test_wrong_shapes(shape: dict[str, Any], message: str) -> None:
    """Each with its key."""
    with pytest.raises(DescriptionError, match=message):
        shaped(**shape)


def test_lines_and_contacts() -> None:
    """A link holds the ends of its lines and what touches."""
    data = manipulator()
    data["lines"] = [
        {
            "name": "ram",
            "a": {"link": "ground", "point": [0.3, 0.0, 0.0]},
            "b": {"link": "upper", "point": [0.5, 0.2, 0.0]},
        }
        | {"stiffness": 1e3, "rest": 0.5}
    ]

    plane = {"point": [0.0, 0.0, -2.0], "normal": [0.6, 0.0, 0.8]}
    touch = {"name": "foot", "link": "lower", "point": [0.7, 0.0, 0.1], "plane": plane, "stiffness": 1e4}
    data["contacts"] = [touch]
    mechanism = mechanism_of(data)
    held = scene.held_at(mechanism)
    assert [0.5, 0.2, 0.0] in [at.tolist() for at in held[0]]
    assert [0.7, 0.0, 0.1] in [at.tolist() for at in held[1]]
    found = scene.still(problem(mechanism, (np.array([0.3, 0.4]), np.zeros(2))))
    assert {mark.name: mark.kind for mark in found.marks} == {"ram": "line", "foot": "plane"}
