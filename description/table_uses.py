"""Checks of the files of lookup tables, and of the expressions that use lookup tables."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.errors import Problem
from ..language import constants, expressions
from ..language.ir import Expr
from ..language.suggest import unknown
from .draft import Draft
from .messages import dotted
from .tables.table import Table

_ROUNDING = 1e-9  # rounding errors: times may lie outside of a table by this fraction of its time span


def file_problems(draft: Draft) -> Iterator[Problem]:
    """Yield all problems in the files of lookup tables."""
    for name, table in draft.chain.tables.items():
        for problem in table.problems:
            yield Problem(dotted(["tables", name, problem.where]), problem.message)


def use_problems(tree: Expr, where: str, draft: Draft, *, continuous: int) -> Iterator[Problem]:
    """Yield problems of lookup tables in an expression.

    Parameters
    ----------
    tree
        Parsed expression.
    where
        Path of its key, for messages.
    draft
        Valid parts of the description.
    continuous
        Order of the highest time derivative that must be continuous.
    """
    known = [name for _, name in draft.names("tables")]
    for use in expressions.tables(tree):
        name = use.data[0]
        table = draft.chain.tables.get(name)
        if name not in known:
            yield Problem(where, unknown("table", name, known))
        elif not _is_affine(use.args[0], draft):
            text = "expected t, or sums and products of t with numbers and parameters, such as 2*t + lag"
            yield Problem(where, f"table({name}, …): {text}")
        elif table is not None and not table.problems:
            yield from _fits(use, where, table, draft, continuous)


def _is_affine(argument: Expr, draft: Draft) -> bool:
    parameters = [name for _, name in draft.names("parameters")]
    return expressions.degree(argument, {"t"}) <= 1 and {*expressions.names(argument)} <= {"t", "pi", *parameters}


def _fits(use: Expr, where: str, table: Table, draft: Draft, continuous: int) -> Iterator[Problem]:
    name, *_ = use.data
    if table.continuous < continuous:
        yield Problem(
            where,
            f"the interpolation of table({name}, …) is {table.interpolation}, but {_lacks(table, continuous)}",
        )
    if table.ends == "free":
        first, last = table.span
        begin, end = _range(use.args[0], draft)
        margin = _ROUNDING * (last - first)
        if begin < first - margin or end > last + margin:
            text = f"the run needs {begin:.9g} to {end:.9g} s (simulation.stop), the table contains"
            text += f' {first:.9g} to {last:.9g} s; add lines, shorten the run, or set ends = "rest"'
            yield Problem(where, f"table({name}, …): {text}")


def _lacks(table: Table, continuous: int) -> str:
    """Return the reason why a lookup table is not smooth enough, and recommend an interpolation."""
    if continuous == 1:
        text = "a rest length or a constraint on velocities or accelerations needs a continuous slope"
        return f'{text}; set interpolation = "pchip" or "cubic"'
    slope = "slope" if table.continuous == 0 else "second derivative, because accelerations must not jump"
    return f'a motion needs a continuous {slope}; set interpolation = "cubic"'


def _range(argument: Expr, draft: Draft) -> tuple[float, float]:
    """Return the range of a lookup table's argument during the simulation: smallest and largest value, s."""
    parameters = draft.chain.parameter_values
    ends = [constants.value(argument, {**parameters, "t": time}) for time in (0.0, draft.chain.simulation.stop)]
    return min(ends), max(ends)
