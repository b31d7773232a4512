"""Tree of moving bodies: each fixed body is merged into the moving body that carries it.

Bodies fixed to the ground are dropped. Masses, first moments and inertias are summed in the axes of
the moving body. These sums do not change during a run, because they depend on parameters only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....language import ir
from ....language.ir import Expr
from ...program.program import EquationSystem
from ...program.tree import Tree, TreeBody
from ..bodies.dynamics import steiner, turned


@dataclass(frozen=True)
class _Place:
    """Pose of a fixed body relative to the moving body that carries the fixed body.

    The axes R and the origin r of the fixed body refer to the frame of the moving body. The vector
    `arm` is r in world axes.
    """

    body: int
    R: Expr
    r: Expr
    arm: Expr


_ORIGIN = (ir.constant(np.eye(3)), ir.zeros(3), ir.zeros(3))


class RigidComposites:
    """Tree of moving bodies, each merged with the fixed bodies that it carries.

    The merged masses, first moments and inertias are defined in the program.
    """

    def __init__(self, program: EquationSystem, links: Sequence[TreeBody]) -> None:
        self._program = program
        self._places: list[_Place] = []
        moving: list[TreeBody] = []
        for link in links:
            carrier = self._places[link.parent] if link.parent >= 0 else _Place(-1, *_ORIGIN)
            if link.fixed is not None:
                self._places.append(self._fixed(link, carrier))
                continue
            self._places.append(_Place(len(moving), *_ORIGIN))
            moving.append(replace(link, parent=carrier.body, arm=carrier.arm + link.arm))
        parts = list(zip(links, self._places, strict=True))
        self._links = tuple(
            self._lumped(link, [part for part in parts if part[1].body == b]) for b, link in enumerate(moving)
        )

    def __call__(self, tree: Tree) -> Tree:
        """Return the tree in which every fixed body is merged into the moving body that carries it.

        The coordinates are those of `tree`.
        """
        return Tree(self._links, tuple(replace(k, body=self._places[k.body].body) for k in tree.freedoms))

    def _fixed(self, link: TreeBody, carrier: _Place) -> _Place:
        assert link.fixed is not None
        rotation, offset = link.fixed
        text = f"of {link.name} in the frame of the moving body that carries {link.name}"
        R = self._program.define(f"R_{link.name}_fixed", carrier.R @ rotation, "1", f"axes {text}")
        r = self._program.define(f"r_{link.name}_fixed", carrier.r + carrier.R @ offset, "m", f"origin {text}")
        return _Place(carrier.body, R, r, carrier.arm + link.arm)

    def _lumped(self, link: TreeBody, parts: Sequence[tuple[TreeBody, _Place]]) -> TreeBody:
        parts = [(part, place) for part, place in parts if not ir.is_zero(part.mass)]
        if all(part.fixed is None for part, _ in parts):
            return link
        name, what = link.name, f"of {link.name} and the bodies fixed to it"
        mass, moment, inertia = ir.constant(0.0), ir.zeros(3), ir.zeros(3, 3)
        for part, place in parts:
            own = place.R @ part.own[0]
            moved = own + part.mass * place.r
            mass, moment = mass + part.mass, moment + moved
            inertia = inertia + place.R @ part.own[1] @ place.R.T + steiner(place.r, own, moved)
        define = self._program.define
        mass = define(f"m_{name}_lump", mass, "kg", f"mass {what}")
        moment = define(f"c_{name}_lump", moment, "kg.m", f"first mass moment {what}, body axes")
        inertia = define(f"I_{name}_lump", inertia, "kg.m2", f"inertia {what} about the origin, body axes")
        s = define(f"s_{name}_lump", link.motion.R @ moment, "kg.m", f"first mass moment {what}, world axes")
        J = turned(
            self._program, f"J_{name}_lump", link.motion.R, inertia, f"inertia {what} about the origin, world axes"
        )
        return replace(link, mass=mass, moment=s, inertia=J)
