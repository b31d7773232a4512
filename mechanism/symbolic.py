"""Type aliases for the generator: data classes of a mechanism that contain symbols instead of numbers."""

from __future__ import annotations

from typing import TypeAlias

from ..language.ir import Expr
from . import by_law, parts

SymbolicBody: TypeAlias = parts.Body[Expr, Expr, Expr]
SymbolicLoopClosure: TypeAlias = parts.LoopClosure[Expr, Expr, Expr]
SymbolicPlaneContact: TypeAlias = parts.PlaneContact[Expr, Expr]
SymbolicCoordinate: TypeAlias = parts.Coordinate[Expr]
SymbolicFilter: TypeAlias = parts.Filter[Expr]
SymbolicForce: TypeAlias = parts.AppliedForce[Expr]
SymbolicFriction: TypeAlias = parts.Friction[Expr]
SymbolicFrame: TypeAlias = parts.JointFrame[Expr, Expr]
SymbolicHuntCrossley: TypeAlias = parts.HuntCrossley[Expr]
SymbolicKnifeEdge: TypeAlias = parts.KnifeEdge[Expr]
SymbolicLawElement: TypeAlias = by_law.LawElement[Expr]
SymbolicTwoPointForce: TypeAlias = parts.TwoPointForce[Expr, Expr]
SymbolicMechanism: TypeAlias = parts.Mechanism[Expr, Expr, Expr]
SymbolicPlace: TypeAlias = parts.Place[Expr]
SymbolicBaseSupport: TypeAlias = parts.BaseSupport[Expr, Expr]
SymbolicTask: TypeAlias = parts.ProgrammedTask[Expr]
