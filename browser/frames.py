"""C function for the frames of all bodies, as a function of coordinates and geometric parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import casadi as ca
import numpy as np

from ..description import Description
from ..fmu.code.casadi_eval import SX, Evaluator
from ..generator.program.items import Definition
from ..generator.program.program import EquationSystem
from ..generator.program.symbols import Symbols
from ..generator.variables import table
from ..mechanism import GROUND, build
from ..mechanism.symbolic import SymbolicCoordinate, SymbolicMechanism

NUMBERS = 7  # per body: position x, y, z in m and quaternion x, y, z, w


@dataclass(frozen=True)
class Frames:
    """C code of `frames(q, p)`.

    Parameters
    ----------
    code
        C file of CasADi with the function `frames`.
    parameters
        Names of the FMU's variables that are the arguments p.
    bodies
        Number of bodies B; the result has B·7 numbers, world frame.
    work
        Numbers of workspace that the function needs.
    """

    code: str
    parameters: tuple[str, ...]
    bodies: int
    work: int


def frames(chain: Description) -> Frames:
    """Generate the C function of a description."""
    program = EquationSystem(chain.name, "")
    mechanism = build(chain, Symbols(program))
    names = [v.name for v in table(program) if v.kind == "parameter"]
    p, q = ca.SX.sym("p", len(names)), ca.SX.sym("q", len(mechanism.coordinates))
    values = _bodies(mechanism, _evaluator(program, p), ca.vertsplit(q))
    sparsity = np.asarray(ca.DM(ca.jacobian_sparsity(values, p), 1))
    used = [int(k) for k in np.flatnonzero(sparsity.any(axis=0))]
    function = ca.Function("frames", [q, p[used]], [ca.densify(values)])
    with TemporaryDirectory() as folder:
        generator = ca.CodeGenerator("frames.c", {"with_header": False})
        generator.add(function)
        code = Path(generator.generate(f"{folder}/")).read_text(encoding="utf-8")
    return Frames(code, tuple(names[k] for k in used), len(mechanism.bodies), function.sz_w())


def _evaluator(program: EquationSystem, p: SX) -> Evaluator:
    known, begin = {}, 0
    for parameter in program.parameters:
        size = int(np.prod(parameter.shape))
        known[parameter.name] = p[begin : begin + size]
        begin += size
    evaluator = Evaluator(program, known, None)
    evaluator.prepare(item.name for item in program.items if isinstance(item, Definition))
    return evaluator


def _bodies(mechanism: SymbolicMechanism, value: Evaluator, q: Sequence[SX]) -> SX:
    """Positions and quaternions of all bodies, from the root to the tips."""
    found: list[tuple[SX, SX]] = []
    for body in mechanism.bodies:
        origin, axes = (ca.SX.zeros(3), ca.SX.eye(3)) if body.parent == GROUND else found[body.parent]
        origin, axes = origin + axes @ value(body.offset), axes @ value(body.rotation)
        for k in body.coordinates:
            origin, axes = _moved(origin, axes, mechanism.coordinates[k], q[k])
        found.append((origin, axes))
    return ca.vertcat(*(ca.vertcat(origin, _quaternion(axes)) for origin, axes in found))


def _moved(origin: SX, axes: SX, coordinate: SymbolicCoordinate, q: SX) -> tuple[SX, SX]:
    """Frame after one elementary motion (Rodrigues' formula for a rotation)."""
    axis = ca.SX(list(coordinate.axis))
    if coordinate.motion.kind == "translation":
        return origin + axes @ axis * q, axes
    cross = ca.skew(axis)
    return origin, axes @ (ca.SX.eye(3) + ca.sin(q) * cross + (1 - ca.cos(q)) * (cross @ cross))


def _quaternion(r: SX) -> SX:
    """Quaternion x, y, z, w of a rotation matrix, by the largest of the four candidates (Shepperd 1978)."""
    xx, yy, zz = r[0, 0], r[1, 1], r[2, 2]
    candidates = (
        ca.vertcat(1 + xx - yy - zz, r[1, 0] + r[0, 1], r[2, 0] + r[0, 2], r[2, 1] - r[1, 2]),
        ca.vertcat(r[1, 0] + r[0, 1], 1 - xx + yy - zz, r[2, 1] + r[1, 2], r[0, 2] - r[2, 0]),
        ca.vertcat(r[2, 0] + r[0, 2], r[2, 1] + r[1, 2], 1 - xx - yy + zz, r[1, 0] - r[0, 1]),
        ca.vertcat(r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1], 1 + xx + yy + zz),
    )
    best, size = candidates[3], candidates[3][3]
    for k in range(3):
        larger = candidates[k][k] > size
        best, size = ca.if_else(larger, candidates[k], best), ca.if_else(larger, candidates[k][k], size)
    return best / ca.sqrt(ca.sumsqr(best))
