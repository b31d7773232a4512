"""Modelica functions for named formulas.

Each function has a single assignment, so that compilers can inline it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...language.ir import Expr

_INLINE = "annotation(Inline = true, __OpenModelica_EarlyInline = true);"
_FUNCTIONS = {
    "rotation": """  function rotation "Rotation matrix about a unit vector (Rodrigues' formula)"
    input Real e[3](each unit = "1") "unit vector of the rotation axis";
    input SI.Angle a "rotation angle";
    output Real R[3, 3](each unit = "1") "rotation matrix";
  algorithm
    R := [e[1]*e[1] + cos(a)*(1.0 - e[1]*e[1]), e[1]*e[2]*(1.0 - cos(a)) - e[3]*sin(a),
      e[1]*e[3]*(1.0 - cos(a)) + e[2]*sin(a); e[1]*e[2]*(1.0 - cos(a)) + e[3]*sin(a),
      e[2]*e[2] + cos(a)*(1.0 - e[2]*e[2]), e[2]*e[3]*(1.0 - cos(a)) - e[1]*sin(a);
      e[1]*e[3]*(1.0 - cos(a)) - e[2]*sin(a), e[2]*e[3]*(1.0 - cos(a)) + e[1]*sin(a),
      e[3]*e[3] + cos(a)*(1.0 - e[3]*e[3])];
    {inline}
  end rotation;""",
    "symmetricMatrix": """  function symmetricMatrix "Symmetric matrix from the elements xx, yy, zz, xy, xz, yz"
    input SI.MomentOfInertia j[6] "elements of the inertia: xx, yy, zz, xy, xz, yz";
    output SI.MomentOfInertia J[3, 3] "inertia matrix";
  algorithm
    J := [j[1], j[4], j[5]; j[4], j[2], j[6]; j[5], j[6], j[3]];
    {inline}
  end symmetricMatrix;""",
    "inWorldAxes": """  function inWorldAxes "Inertia in world axes of a body whose inertia is given in body axes"
    input Real R[3, 3](each unit = "1") "axes of the body, world frame";
    input SI.MomentOfInertia j[6] "inertia in axes of the body: xx, yy, zz, xy, xz, yz";
    output SI.MomentOfInertia i[6] "inertia in world axes: xx, yy, zz, xy, xz, yz";
  algorithm
    i := {{R[1,:]*symmetricMatrix(j)*R[1,:], R[2,:]*symmetricMatrix(j)*R[2,:],
      R[3,:]*symmetricMatrix(j)*R[3,:], R[1,:]*symmetricMatrix(j)*R[2,:],
      R[1,:]*symmetricMatrix(j)*R[3,:], R[2,:]*symmetricMatrix(j)*R[3,:]}};
    {inline}
  end inWorldAxes;""",
    "pointInertia": """  function pointInertia "Inertia of a point mass about the origin (parallel axis theorem)"
    input SI.Mass m "mass of the point";
    input SI.Length r[3] "position of the point mass relative to the origin";
    output SI.MomentOfInertia j[6] "elements of the inertia: xx, yy, zz, xy, xz, yz";
  algorithm
    j := m*{{r[2]^2 + r[3]^2, r[1]^2 + r[3]^2, r[1]^2 + r[2]^2, -r[1]*r[2], -r[1]*r[3], -r[2]*r[3]}};
    {inline}
  end pointInertia;""",
}
NAMES = tuple(_FUNCTIONS)
_CALLS = {"inWorldAxes": ("symmetricMatrix",)}


def definitions(expressions: Iterable[Expr]) -> Iterator[str]:
    """Yield the source text of each function that the expressions call."""
    called = {name for expr in expressions for name in _called(expr)}
    called |= {other for name in called for other in _CALLS.get(name, ())}
    for name, text in _FUNCTIONS.items():
        if name in called:
            yield text.format(inline=_INLINE)


def _called(expr: Expr) -> Iterator[str]:
    if expr.op == "function":
        yield str(expr.data[0])
    for argument in expr.args:
        yield from _called(argument)
