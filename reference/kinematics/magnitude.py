"""Magnitudes of an expression's terms before they cancel each other.

Each operation rounds its result and passes on what its operands are uncertain by, to first order. So times the
arithmetic's precision the size is how far value and gradient may be wrong, whatever they have come to (a running
error analysis: Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array
from .expression import Atom, Call, Choice, Constant, Instant, Node
from .jet import Jet, Value, constant, hessian, plain, variables


@dataclass(frozen=True)
class ValueWithGradient:
    """An expression's value with its gradient by k variables, shape (k,), and the sizes of both."""

    value: float
    gradient: Array
    size: float
    gradient_size: Array


def magnitude(node: Node, at: Instant, names: list[str]) -> ValueWithGradient:
    """Return an expression's magnitude by the variables `names`; arithmetic errors outside of its domain."""
    if isinstance(node, Choice):
        return magnitude(node.chosen(at), at, names)
    if isinstance(node, Call):
        return _of_call(node, [magnitude(child, at, names) for child in node.children])
    unit, value = np.zeros(len(names)), plain(node.value(at))
    if isinstance(node, Atom):
        unit[names.index(node.name)] = 1.0
    return ValueWithGradient(value, unit, abs(value), unit)


def _of_call(node: Call, all_parts: list[ValueWithGradient]) -> ValueWithGradient:
    """The chain rule, for sizes with absolute values; constants have no slope."""
    moving = [not isinstance(child, Constant) for child in node.children]
    parts = [part for part, moves in zip(all_parts, moving, strict=True) if moves]
    values = [part.value for part in parts]

    def operation(variables: list[Jet]) -> Value:
        jets = iter(variables)
        operands = [next(jets) if m else p.value for p, m in zip(all_parts, moving, strict=True)]
        return node.result(*operands)

    found, curvature = constant(operation(variables(values)), len(parts)), hessian(operation, values)
    gradients, sizes = np.array([part.gradient for part in parts]), np.array([part.size for part in parts])
    slopes = np.array([part.gradient_size for part in parts])
    return ValueWithGradient(
        found.value,
        found.gradient @ gradients,
        abs(found.value) + float(np.abs(found.gradient) @ sizes),
        np.abs(found.gradient) @ slopes + (np.abs(curvature) @ sizes) @ np.abs(gradients),
    )
