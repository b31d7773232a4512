"""Rewriting of sampled elements so that conditions switch at the same instant as the samples.

If a condition depends on the output of another sampled element, it may change because of that
element's sample. Modelica evaluates such a condition again in the event iteration. The compiler
rumoca 0.10 keeps the truth value from before the event until the next sample.
"""

from __future__ import annotations

from dataclasses import replace

from ...language import ir
from ...language.ir import Expr, Replacement
from ..program.items import Definition
from ..program.program import EquationSystem


def for_compilers(program: EquationSystem) -> EquationSystem:
    """Return the program in which sampled elements evaluate their conditions at sample times only.

    In the equations of sampled elements, conditions that can change at a sample time no longer trigger
    events.
    """
    values = _switching_with_samples(program)
    substituted = Replacement(values)
    samplings = [
        replace(each, held=tuple(replace(x, next=_without_events(substituted(x.next))) for x in each.held))
        if any(values.keys() & x.next.symbols for x in each.held)
        else each
        for each in program.samplings
    ]
    return replace(program, samplings=samplings)


def _switching_with_samples(program: EquationSystem) -> dict[str, Expr]:
    """Return the defining expressions that contain a condition which may change at a sample time.

    The result maps the name of a definition to its expression. If an expression contains symbols of
    other definitions in the result, their expressions replace these symbols.
    """
    changing = {name for each in program.samplings for x in each.held for name in (x.name, x.variable)}
    values: dict[str, Expr] = {}
    for item in program.items:
        if not isinstance(item, Definition) or item.shape or not changing & item.exprs[0].symbols:
            continue
        changing.add(item.name)
        expr = Replacement(values)(item.exprs[0])
        if values.keys() & item.exprs[0].symbols or _switches(expr):
            values[item.name] = expr
    return values


def _switches(tree: Expr) -> bool:
    return _is_relation(tree) or any(map(_switches, tree.args))


def _is_relation(tree: Expr) -> bool:
    """Whether a node is a conditional expression that switches at state events."""
    return tree.op == "if" and len(tree.args) == 4 and tree.data[1] is not None


def _without_events(tree: Expr) -> Expr:
    args = [_without_events(each) for each in tree.args]
    if _is_relation(tree):
        return ir.choose(tree.data[0], *args)
    return ir.rebuilt(tree, args) if args else tree
