"""Expressions evaluated with numbers, and strategies for expressions as text."""

from __future__ import annotations

from collections.abc import Mapping

from helpers_program import Evaluator
from hypothesis import strategies as st

from gpmelica.language.ir import Expr

NAMES = ("t", "E.x", "E.y", "k")  # k is a parameter


def value(tree: Expr, values: Mapping[str, float]) -> float:
    """Value of an expanded tree, every name given."""
    return float(Evaluator(values)(tree))


_atoms = st.sampled_from((*NAMES, "pi", "0", "1", "2", "0.5", "-1.5", "3e-1"))


def _larger(smaller: st.SearchStrategy[str], patterns: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.builds(str.format, st.sampled_from(patterns), smaller, smaller, smaller)


# Arguments are led into the domains of their functions, and stay of the order of 1.
SMOOTH = (
    "{0} + {1}",
    "{0} - ({1})",
    "-({0})",
    "({0})*({1})/3",
    "({0})/(2 + cos({1}))",
    "sin({0})",
    "cos({0})*({1})",
    "tan(0.9*tanh({0}))",
    "asin(0.9*sin({0}))",
    "acos(0.9*cos({0} + 0.1))",
    "atan({0})",
    "atan2({0}, 1 + ({1})^2)",
    "sqrt(1 + ({0})^2)",
    "exp(-tanh({0}))",
    "log(2 + sin({0}))",
    "tanh({0})^2",
    "tanh({0})^3*({1})",
    "(1.5 + sin({0}))^(tanh({1}))",
    "(2 + cos({0}))**-2",
    "quintic({0}, 0.2, 1.3, {1}, {2})",
    "quintic(sin({0}), -1.1, 1.2, 0, 1)",
)
WITH_KINKS = (
    "abs({0})",
    "noevent(max({0}, {1}))*({2})",
    "sign({0})*({1})",
    "min({0}, {1})",
    "max({0}, {1})",
    "({0} if {1} < 0.4 else {2})",
    "({0} if t >= 0.4 and not {1} > k else {2})",
    "({0} if -1 < {1} <= 0.6 or E.x > 2 else {2})",
)


def expressions(patterns: tuple[str, ...] = SMOOTH) -> st.SearchStrategy[str]:
    """Expressions in NAMES whose values stay of the order of 1."""
    return st.recursive(_atoms, lambda smaller: _larger(smaller, patterns), max_leaves=6)
