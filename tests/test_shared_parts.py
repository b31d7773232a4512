"""Parts that production and the reference solver share, each against something that shares nothing with them.

`docs/evidence.md` lists these parts. Positions, loops and energies are held against `helpers_plain`, which
reads the tables with NumPy and SciPy; lookup tables against SciPy's splines; paths and beams against closed forms.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_backends import CompileData
from helpers_loops import CLOSURES, four_bar, random_loop
from helpers_parts import X, Y, Z, beam, link, machine
from helpers_plain import PlainMechanism, gradient, jacobian
from helpers_random import random_chain
from numpy.typing import NDArray
from scipy.integrate import cumulative_trapezoid, solve_bvp
from scipy.interpolate import CubicSpline

import gpmelica as gp
from gpmelica.description.load import from_data
from gpmelica.mechanism import Mechanism
from gpmelica.runs.fmpy_runs import simulate as runs

Array = NDArray[np.float64]
BASES = (None, "flexible", "rigid")


def _model(tables: dict[str, Any]) -> gp.Model:
    return gp.Model(from_data(tables))


def _random_tree(seed: int, **options: Any) -> dict[str, Any]:
    tables = random_chain(np.random.default_rng(seed), base=BASES[seed % 3], **options)
    if "base" in tables:
        tables["base"]["linearized"] = False
    return tables


def _moved(plain: PlainMechanism, values: dict[str, float], names: list[str]) -> Any:
    """A function of the named coordinates alone, shape (k,), that gives all coordinates by name."""
    return lambda x: values | dict(zip(names, x.tolist(), strict=True))


# ---- Joints, frames and beams -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(9))
def test_positions_of_points(seed: int) -> None:
    """Points of random trees with joints and frames of all kinds are where the tables put them."""
    tables = _random_tree(seed, links=6)
    places = {entry["name"]: [0.1, -0.2, 0.3] for entry in tables["links"]}
    tables["points"] = {f"P_{name}": {"link": name, "position": at} for name, at in places.items()}
    tables["simulation"] = {"start": "description", "stop": 1e-3, "output_step": 1e-3}
    run = _model(tables).simulate()
    plain = PlainMechanism(tables)
    for name, at in places.items():
        expected = plain.link_frame(name, plain.described(), at[0]).point(np.array(at))
        assert [run[f"P_{name}_{axis}"][0] for axis in "xyz"] == pytest.approx(expected, abs=1e-12)


# ---- Static equilibrium -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 19, 3))
def test_equilibrium_is_a_minimum_of_the_energy(seed: int) -> None:
    """The equilibrium of trees on springs is a minimum of the energy that the tables describe."""
    tables = _random_tree(seed, links=4, joints=("revolute", "prismatic", "universal"))
    for entry in tables["links"]:
        entry["joint"].setdefault("stiffness", 60.0)
    plain, model = PlainMechanism(tables), _model(tables)
    found = model.statics()
    names = [name for name in plain.coordinates() if name in found]
    assert names == plain.coordinates()
    all_of = _moved(plain, found, names)

    def energy(x: Array) -> float:
        return plain.potential(all_of(x))

    rest, described = np.array([*found.values()]), np.array([*plain.described().values()])
    scale = np.abs(gradient(energy, described)).max()
    assert np.abs(gradient(energy, rest)).max() < 1e-7 * scale
    curvature = jacobian(lambda x: gradient(energy, x, 1e-4), rest, 1e-4)
    assert np.linalg.eigvalsh((curvature + curvature.T) / 2).min() > 0.0


def test_equilibrium_of_a_loop_is_a_minimum_on_its_manifold() -> None:
    """In a hanging four-bar with a spring, the slope of the energy is a combination of the closure's gradients."""
    tables = four_bar(statics={"locked": []})
    tables["links"][2]["joint"] |= {"stiffness": 12.0, "rest": 0.4}
    plain, found = PlainMechanism(tables), _model(tables).statics()
    all_of = _moved(plain, found, [*found])
    rest = np.array([*found.values()])
    slope = gradient(lambda x: plain.potential(all_of(x)), rest)
    closing = jacobian(lambda x: plain.gaps(all_of(x)), rest)
    assert np.abs(plain.gaps(found)).max() < 1e-12
    multipliers = np.linalg.lstsq(closing.T, slope)[0]
    assert np.abs(slope - closing.T @ multipliers).max() < 1e-7 * np.abs(slope).max()


# ---- Loop closures: assembly, rank and partition ----------------------------------------------------------------


def _tables(mechanism: Mechanism) -> dict[str, Any]:
    return mechanism.chain.model_dump(by_alias=True, exclude_none=True)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", CLOSURES)
def test_assembled_loops_are_closed(kind: str, seed: int) -> None:
    """The start of a random loop closes it by the tables' own gaps; axes that a joint shares do not oppose."""
    mechanism = random_loop(seed, kind)[0]
    tables = _tables(mechanism) | {"simulation": {"start": "description"}}
    model, plain = _model(tables), PlainMechanism(tables)
    start = dict(zip((c.name for c in model.coordinates), model.prepared.start[0].tolist(), strict=True))
    assert np.abs(plain.gaps(start)).max() < 1e-10
    (closure,) = tables["closures"]
    a, b = (plain.place(closure[side], start) for side in "ab")
    if kind in ("revolute", "prismatic", "fixed"):
        assert (a.R.T @ b.R)[2, 2] > 0.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", CLOSURES)
def test_rank_and_partition_of_loops(kind: str, seed: int) -> None:
    """`check` prints the rank of the gaps' difference quotients, and dependent columns that are regular."""
    mechanism = random_loop(seed, kind)[0]
    tables = _tables(mechanism) | {"simulation": {"start": "description"}}
    model, plain = _model(tables), PlainMechanism(tables)
    found, names = model.check().data(), plain.coordinates()
    held = names[:6] if tables.get("base", {}).get("support") == "rigid" else []
    start = dict(zip((c.name for c in model.coordinates), model.prepared.start[0].tolist(), strict=True))
    free = [name for name in names if name not in held]
    all_of = _moved(plain, start, free)
    C = jacobian(lambda x: plain.gaps(all_of(x)), np.array([start[name] for name in free]))
    assert found["rank"] == np.linalg.matrix_rank(C, tol=1e-6 * np.abs(C).max()) + len(held)
    dependent = [free.index(name) for name in found["dependent"] if name not in held]
    assert np.linalg.cond(C[:, dependent]) < 1e6


def _bennett(crank: float) -> tuple[dict[str, Any], float]:
    """A Bennett linkage, which moves against Grübler's count, and the angle of its second joint, rad.

    Opposite links are equal, a/sin α = b/sin β, and tan(θ₁/2)·tan(θ₂/2) = sin((β + α)/2)/sin((β − α)/2).
    """
    a, alpha, b = 0.5, 0.6, 0.8
    beta = float(np.arcsin(b * np.sin(alpha) / a))
    ratio = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    second = float(2 * np.arctan(ratio / np.tan(crank / 2)))
    rough = (crank, second + 0.05, 2 * np.pi - crank - 0.05)
    links, parent, before = [], "ground", (0.0, 0.0)
    for name, turn, along in zip("ABC", rough, ((a, alpha), (b, beta), (a, alpha)), strict=True):
        links.append(link(name, "revolute", Z, parent, dh=[*before, 0.0, 0.0], position=turn))
        parent, before = name, along
    ends = {"a": {"link": "ground", "dh": [-b, -beta, 0.0, 0.0]}, "b": {"link": "C", "dh": [*before, 0.0, 0.0]}}
    ring = {"name": "ring", "type": "revolute"} | ends
    return machine(*links, closures=[ring], statics={"locked": ["A"]}), second


@pytest.mark.parametrize("crank", [0.7, 1.3, 2.2])
def test_bennett_linkage_moves(crank: float) -> None:
    """An overconstrained linkage closes at Bennett's angles, has rank 2 of 5, and keeps them while it moves."""
    tables, second = _bennett(crank)
    tables["simulation"] = {"stop": 1.0, "output_step": 0.02, "tolerance": 1e-9}
    model = _model(tables)
    found, run = model.check().data(), model.simulate()
    assert (found["n"], found["rank"], found["dof"]) == (3, 2, 1)
    assert run["B_angle"][0] == pytest.approx(second, abs=1e-9)
    ratios = np.tan(run["A_angle"] / 2) * np.tan(run["B_angle"] / 2)
    assert np.ptp(run["A_angle"]) > 0.05
    assert ratios == pytest.approx(ratios[0], rel=1e-6)


@pytest.mark.parametrize("tables", [four_bar(closure="revolute"), _bennett(1.3)[0]], ids=["four-bar", "Bennett"])
def test_kept_constraints_imply_the_redundant_ones(tables: dict[str, Any]) -> None:
    """Without the equations that `check` calls redundant, the difference quotients keep their rank."""
    model, plain = _model(tables), PlainMechanism(tables)
    found = model.check().data()
    values = model.prepared.start[0]
    all_of = _moved(plain, {}, plain.coordinates())
    C = jacobian(lambda x: plain.gaps(all_of(x)), values)
    rows = ["x", "y", "z", "xz", "yz"]
    left_out = [rows.index(name.rpartition("_")[2]) for name in found["left_out_rows"]]
    assert len(left_out) == 3
    kept = np.delete(C, left_out, axis=0)
    assert np.linalg.matrix_rank(kept, tol=1e-6) == np.linalg.matrix_rank(C, tol=1e-6) == found["rank"] == 2


# ---- Lookup tables ----------------------------------------------------------------------------------------------

TIMES = np.array([0.0, 0.11, 0.2, 0.36, 0.5, 0.58, 0.8, 1.0])
TURN = np.array([0.2, 0.2, 0.35, 0.9, 0.7, 0.4, 0.45, 0.3])
PUSH = np.array([0.0, 3.0, -2.0, 5.0, 5.0, -4.0, 0.0, 1.0])


def _table_file(folder: Path) -> Path:
    rows = "\n".join(f"{t},{x},{f}" for t, x, f in zip(TIMES, TURN, PUSH, strict=True))
    path = folder / "motion.csv"
    path.write_text(f"time,turn,push\n{rows}\n")
    return path


def _driven(folder: Path) -> dict[str, Any]:
    """Two joints that follow a table, resting and free at its ends, and a slide that a linear table pushes."""
    common = {"file": str(_table_file(folder)), "time": "time"}
    tables = {
        "rest": common | {"value": "turn"},
        "free": common | {"value": "turn", "ends": "free"},
        "push": common | {"value": "push", "interpolation": "linear"},
    }
    spline = CubicSpline(TIMES, TURN)
    return machine(
        link("A", "revolute", Z, position=float(TURN[0])),
        link("B", "revolute", Z, position=float(TURN[0]), velocity=float(spline(0.0, 1))),
        link("S", "prismatic", X),
        gravity=[0.0, 0.0, 0.0],
        tables=tables,
        motions=[
            {"name": "mA", "joint": "A", "position": "table(rest, t)"},
            {"name": "mB", "joint": "B", "position": "table(free, t)"},
        ],
        forces=[{"name": "f", "joint": "S", "effort": "table(push, t)"}],
        simulation={"start": "description", "stop": 1.0, "output_step": 0.01, "tolerance": 1e-10},
    )


def _check_tables(time: Array, signal: Any) -> None:
    """Angles, efforts and the slide's speed are SciPy's splines and sums of trapezoids."""
    rest, free = CubicSpline(TIMES, TURN, bc_type="clamped"), CubicSpline(TIMES, TURN)
    for name, spline in (("A", rest), ("B", free)):
        assert signal(f"{name}_angle") == pytest.approx(spline(time), abs=1e-8)
        inside = slice(1, -1)
        assert signal(f"{name}_angle_effort")[inside] == pytest.approx(spline(time, 2)[inside], abs=1e-5)
    fine = np.union1d(TIMES, time)
    speed = cumulative_trapezoid(np.interp(fine, TIMES, PUSH), fine, initial=0.0)
    assert signal("S_position_dot") == pytest.approx(np.interp(time, fine, speed), abs=1e-8)


def test_lookup_tables_in_the_reference_solver(tmp_path: Path) -> None:
    """The reference solver follows SciPy's splines and lines."""
    run = _model(_driven(tmp_path)).simulate()
    _check_tables(run.time, lambda name: run[name])


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["me", "cs"])
def test_lookup_tables_in_the_fmu(mode: runs.Mode, tmp_path: Path, compile_data: CompileData) -> None:
    """The FMU evaluates the lookup tables in both modes like the reference solver."""
    fmu = compile_data(_driven(tmp_path)).fmu
    names = [f"{name}_angle{end}" for name in "AB" for end in ("", "_effort")] + ["S_position_dot"]
    settings: dict[str, Any] = {"stop": 1.0, "output_step": 0.01, "tolerance": 1e-10}
    run = runs.simulate(fmu, mode, names, name=mode, **settings)
    _check_tables(run.time, lambda name: run.signals[name])


# ---- Paths ------------------------------------------------------------------------------------------------------


def _smooth(profile: str, ramp: float, s: Array) -> Array:
    s = np.clip(s, 0.0, 1.0)
    if profile == "quintic":
        return s**3 * (10 - 15 * s + 6 * s**2)
    speeding = s**2 / (2 * ramp * (1 - ramp))
    slowing = 1 - (1 - s) ** 2 / (2 * ramp * (1 - ramp))
    return np.where(s < ramp, speeding, np.where(s > 1 - ramp, slowing, (s - ramp / 2) / (1 - ramp)))


@pytest.mark.parametrize("blend", [0.0, 0.12])
@pytest.mark.parametrize("profile", ["quintic", "trapezoidal"])
def test_paths_follow_their_profile(profile: str, blend: float) -> None:
    """A gantry's point is at the sum of its legs' profiles, written here from the formula in `docs/joints.md`."""
    ramp, legs = 0.3, (0.6, 0.8)
    corners = np.array([[0.0, 0.0, 0.0], [0.4, 0.1, 0.0], [0.3, 0.5, -0.2]])
    path = {"point": "E", "frame": {"xyz": [0.1, 0.2, 0.3], "rpy": [0.0, 0.0, 0.5]}, "profile": profile}
    path |= {"components": ["x", "y", "z"], "waypoints": corners.tolist(), "leg_time": [*legs]}
    path |= ({"ramp": ramp} if profile == "trapezoidal" else {}) | ({"blend_time": blend} if blend else {})
    slides = (link("U", "prismatic", X), link("V", "prismatic", Y, "U"), link("W", "prismatic", Z, "V"))
    for slide, start in zip(slides, (0.1, 0.2, 0.3), strict=True):
        slide["joint"]["position"] = start
    tables = machine(
        *slides,
        points={"E": {"link": "W", "position": [0.0, 0.0, 0.0]}},
        programmed=[{"name": "way", "path": path}],
        simulation={"start": "description", "stop": 1.4, "output_step": 0.02, "tolerance": 1e-10},
    )
    run = _model(tables).simulate()
    begins = (0.0, legs[0] - blend)
    parts = [_smooth(profile, ramp, (run.time - t) / T) for t, T in zip(begins, legs, strict=True)]
    along = corners[0] + sum(np.outer(s, way) for s, way in zip(parts, np.diff(corners, axis=0), strict=True))
    c, s = np.cos(0.5), np.sin(0.5)
    expected = [0.1, 0.2, 0.3] + along @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]).T
    found = np.stack([run[f"E_{axis}"] for axis in "xyz"], axis=-1)
    assert found == pytest.approx(expected, abs=1e-7)


# ---- Beams ------------------------------------------------------------------------------------------------------

SECTION = {"length": 2.0, "area": 4e-4, "density": 1e-3, "E": 2e11, "G": 8e10, "Iy": 1e-9, "Iz": 3e-9, "J": 4e-9}


def _elastica(load: float) -> tuple[float, float]:
    """Tip of a cantilever of length 1 with the transverse load P L²/(E I): θ'' = −load·cos θ, θ(0) = θ'(1) = 0."""
    s = np.linspace(0.0, 1.0, 41)
    guess = np.vstack([load * (s - s**2 / 2), load * (1 - s)])
    found = solve_bvp(
        lambda _, y: np.vstack([y[1], -load * np.cos(y[0])]),
        lambda a, b: np.array([a[0], b[1]]),
        s,
        guess,
        tol=1e-10,
        max_nodes=100_000,
    )
    fine = np.linspace(0.0, 1.0, 4001)
    angle = found.sol(fine)[0]
    return float(np.trapezoid(np.cos(angle), fine)), float(np.trapezoid(np.sin(angle), fine))


def _tip(elements: int, axis: int, load: float) -> Array:
    """Tip of the cantilever under a force along y or z of the world, shape (3,), m."""
    rigidity = SECTION["E"] * SECTION["Iz" if axis == 1 else "Iy"]
    force = [0.0, 0.0, 0.0]
    force[axis] = load * rigidity / SECTION["length"] ** 2
    tables = machine(
        beam("B", SECTION | {"elements": elements}, "fixed"),
        gravity=[0.0, 0.0, 0.0],
        forces=[{"name": "f", "link": "B", "point": [2.0, 0.0, 0.0], "force": force, "frame": "world"}],
    )
    plain, found = PlainMechanism(tables), _model(tables).statics()
    return plain.link_frame("B", found, 2.0).point(np.array([2.0, 0.0, 0.0]))


@pytest.mark.parametrize("axis", [1, 2])
def test_large_deflection_converges_to_the_elastica(axis: int) -> None:
    """Far beyond small angles (P L²/(E I) = 3) the tip converges to the elastica, with order 2 in the elements."""
    along, across = _elastica(3.0)
    expected = np.array([along, 0.0, 0.0]) * SECTION["length"]
    expected[axis] = across * SECTION["length"]
    errors = [np.linalg.norm(_tip(count, axis, 3.0) - expected) for count in (9, 17)]
    assert errors[1] < 2e-3 * SECTION["length"]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)
