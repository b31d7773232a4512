"""Replacement of sums over consecutive array elements by products of array blocks.

For example, `x[2]*A[2,:] + x[3]*A[3,:] + x[4]*A[4,:]` becomes `x[2:4]*A[2:4,:]`.
"""

from __future__ import annotations

from dataclasses import replace

from ....language import ir
from ....language.ir import Expr

_FEWEST = 3  # A sum is replaced by a product of array blocks only if it has at least this number of terms.


def folded(expr: Expr) -> Expr:
    """Return an equal expression in which products of array blocks replace sums over array elements.

    A sum is replaced only if its elements are consecutive, as in the example in the docstring of
    this module.
    """
    if expr.op in ("symbol", "constant"):
        return expr
    if expr.op == "+":
        return _folded_sum(expr)
    args = tuple(map(folded, expr.args))
    if all(new is old for new, old in zip(args, expr.args, strict=True)):
        return expr
    return replace(expr, args=args)


def _folded_sum(expr: Expr) -> Expr:
    terms = [folded(term) for term in _terms(expr)]
    total: Expr | None = None
    begin = 0
    while begin < len(terms):
        end = begin + 1
        while end < len(terms) and _follows(terms[end - 1], terms[end]):
            end += 1
        part = _block(terms[begin:end]) if end - begin >= _FEWEST else None
        if part is None:
            end, part = begin + 1, terms[begin]
        total = part if total is None else total + part
        begin = end
    assert total is not None
    return total


def _terms(expr: Expr) -> list[Expr]:
    if expr.op != "+":
        return [expr]
    return [*_terms(expr.args[0]), *_terms(expr.args[1])]


def _elements(term: Expr) -> list[tuple[str, int]] | None:
    """Return a pair of text and first subscript for each factor of a product of array elements.

    The text contains the name of the array and all subscripts of the factor except the first. The
    result is None if a factor is not an array element.
    """
    factors = term.args if term.op == "*" else (term,)
    found = []
    for factor in factors:
        if factor.op != "index" or factor.args[0].op != "symbol" or not isinstance(factor.data[0], int):
            return None
        found.append((f"{factor.args[0].data} {factor.data[1:]}", factor.data[0]))
    return found


def _follows(before: Expr, after: Expr) -> bool:
    here, there = _elements(before), _elements(after)
    if here is None or there is None or len(here) != len(there):
        return False
    return all(a == b and j == i + 1 for (a, i), (b, j) in zip(here, there, strict=True))


def _block(terms: list[Expr]) -> Expr | None:
    factors = terms[0].args if terms[0].op == "*" else (terms[0],)
    blocks = [
        ir.index(factor.args[0], (slice(factor.data[0], factor.data[0] + len(terms)), *factor.data[1:]))
        for factor in factors
    ]
    if len(blocks) == 2:
        vector, matrix = blocks
        return Expr("matmul", matrix.shape[1:], (vector, matrix)) if len(vector.shape) == 1 else None
    if len(blocks[0].shape) == 1:
        return Expr("call", (), (blocks[0],), "sum")
    ones = Expr("function", (len(terms),), (), ("ones", ir.constant([1.0] * len(terms))))
    return Expr("matmul", blocks[0].shape[1:], (ones, blocks[0]))
