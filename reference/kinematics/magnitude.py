"""Error bounds of expressions from the magnitudes of their terms before cancellation.

An error is estimated as a magnitude times the machine precision. The magnitude of the value yields
the error of the value, and the magnitude of the gradient yields the error of the gradient. Both
estimates are valid even if large terms cancel. The method is a running error analysis to first order
(Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array
from .expression import Atom, Call, Choice, Constant, Instant, Node
from .jet import Jet, Value, constant, hessian, plain, variables


@dataclass(frozen=True)
class ValueWithGradient:
    """Value and gradient of an expression, each with the magnitude of its terms.

    Attributes
    ----------
    value, size : float
        Value of the expression, and magnitude of its terms before cancellation.
    gradient, gradient_size : ndarray, shape (k,)
        Derivatives with respect to k variables, and magnitudes of their terms before cancellation.
    """

    value: float
    gradient: Array
    size: float
    gradient_size: Array


def magnitude(node: Node, at: Instant, names: list[str]) -> ValueWithGradient:
    """Return the value and the gradient of an expression, each with the magnitude of its terms.

    The gradient contains the derivatives with respect to the variables `names`.

    If the expression is undefined, an arithmetic error such as ZeroDivisionError is raised.
    """
    if isinstance(node, Choice):
        return magnitude(node.chosen(at), at, names)
    if isinstance(node, Call):
        return _of_call(node, [magnitude(child, at, names) for child in node.children])
    unit, value = np.zeros(len(names)), plain(node.value(at))
    if isinstance(node, Atom):
        unit[names.index(node.name)] = 1.0
    return ValueWithGradient(value, unit, abs(value), unit)


def _of_call(node: Call, all_parts: list[ValueWithGradient]) -> ValueWithGradient:
    """Return value, gradient and magnitudes of an operation by the chain rule.

    A magnitude is the size of the terms before cancellation. Magnitudes follow from the absolute
    values of the partial derivatives. Constant operands have no derivatives and are skipped.
    """
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
