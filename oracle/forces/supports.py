"""Spring-damper supports between the base and the ground along the world axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.trajectory import Array
from ..expressions.jets import Jet
from ..expressions.setting import Setting
from ..expressions.sides import Condition
from ..expressions.state import State
from .load import Load
from .pressing import pressing

_Z = np.array([0.0, 0.0, 1.0])


class Supports:
    """Spring-damper supports of the base.

    A unilateral support can only push along z. The horizontal force of such a support is at most as
    large as the vertical force.
    """

    def __init__(self, tables: Sequence[Mapping[str, Any]], setting: Setting) -> None:
        self._names = [table["name"] or f"support{i}" for i, table in enumerate(tables, start=1)]
        numbers = ([table[key] for table in tables] for key in ("position", "stiffness", "damping"))
        self._position, self._stiffness, self._damping = (np.array(x, dtype=float).reshape(-1, 3) for x in numbers)
        self._points = [setting.point("base", table["position"]) for table in tables]
        self._one_sided = [i for i, table in enumerate(tables) if table["one_sided"]]
        self._laws = [
            pressing(f"support {name}", ("touches", "lifts"), table["stiffness"][2], table)
            for name, table in zip(self._names, tables, strict=True)
        ]
        is_linear = bool(tables) and setting.data["base"]["linearized"]
        self._small = np.array([_small_motion(at) for at in self._position]) if is_linear else None
        for i in self._one_sided:
            self._name_measures(i, setting)

    def act(self, state: State, load: Load) -> None:
        forces, energies = self._forces(state)
        load.energy += float(energies.sum())
        if self._small is not None:
            load.effort[:6] += np.einsum("ij,ijk->k", forces, self._small)
            return
        for point, force in zip(self._points, forces, strict=True):
            load.push(point, force)

    def signals(self, state: State) -> dict[str, float]:
        (deflections, _), (forces, _) = self._deflections(state), self._forces(state)
        gaps = {f"{self._names[i]}_gap": float(deflections[i, 2]) for i in self._one_sided}
        return gaps | {f"{self._names[i]}_force": float(forces[i, 2]) for i in self._one_sided}

    def _name_measures(self, i: int, setting: Setting) -> None:
        name = self._names[i]
        setting.names.add(f"{name}.gap", lambda state: self._gap(i, state))
        setting.names.forces[f"{name}.force"] = lambda state: float(self._forces(state)[0][i, 2])

    def _deflections(self, state: State) -> tuple[Array, Array]:
        """Return the deflections of all s supports, m, and their rates, m/s; both arrays have shape (s, 3)."""
        if self._small is not None:
            return self._small @ state.motion.q[:6], self._small @ state.motion.qd[:6]
        p, own = state.points, self._points
        return p.position[own] - self._position, p.velocity[own]

    def _gap(self, i: int, state: State) -> Jet:
        if self._small is None:
            return state.along(self._points[i], _Z) + -float(self._position[i, 2])
        slope = np.zeros(len(state.motion.q))
        slope[:6] = self._small[i, 2]
        return Jet(float(slope @ state.motion.q), slope, float(slope @ state.motion.qd))

    def _forces(self, state: State) -> tuple[Array, Array]:
        """Return the forces of all s supports on the base, N, and their spring energies, J.

        Both arrays have shape (s, 3), with one column for each world axis.
        """
        deflections, rates = self._deflections(state)
        elastic = -self._stiffness * deflections
        forces, energies = elastic - self._damping * rates, -0.5 * elastic * deflections
        for i in self._one_sided:
            self._press(i, state, (deflections[i], rates[i]), forces[i], energies[i])
        return forces, energies

    def _press(self, i: int, state: State, moving: tuple[Array, Array], force: Array, energy: Array) -> None:
        """Overwrite the force and energy of a bilateral support with the values of a unilateral support.

        The arrays `force`, N, and `energy`, J, have shape (3,).
        """
        law, sides = self._laws[i], state.sides
        depth, sinking = -float(moving[0][2]), -float(moving[1][2])
        if not law.acts(sides, depth, sinking):
            force[:], energy[:] = 0.0, 0.0
            return
        force[2], energy[2] = law.free(depth, sinking), law.energy(depth)
        grip = float(np.hypot(force[0], force[1]))
        slips = Condition(law.label, ("slips", "sticks"), grip - force[2], False)
        if sides.decide((law.label, "slips"), slips) and grip != 0.0:
            force[:2] *= force[2] / grip
            energy[:2] = 0.0


def _small_motion(position: Array) -> Array:
    """Return the Jacobian of a point's displacement with respect to the base coordinates, shape (3, 6).

    The Jacobian is evaluated at zero base coordinates (x, y, z, psi, theta, phi).
    """
    axes = np.eye(3)
    return np.column_stack([*axes, *(np.cross(axes[i], position) for i in (2, 1, 0))])


def supports(setting: Setting) -> Supports:
    """Return the spring-damper supports of the base.

    The result has no supports if there is no base or if the base is rigidly supported.
    """
    base = setting.data["base"]
    is_held = base is None or base["support"] == "rigid"
    return Supports([] if is_held else base["supports"], setting)
