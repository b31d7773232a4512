"""Expression trees of the description → array expressions, with their switches and start values."""

from __future__ import annotations

from collections.abc import Callable

from ...language import differentiate, expressions, ir
from ...language.expressions import Apply, Conditional, Name, Number, Tree
from ...language.ir import Expr
from ...program.program import Program, StartValue

TIME = ir.symbol("time")
_ARITHMETIC = {"+": ir.add, "-": ir.sub, "*": ir.mul, "/": ir.div, "^": ir.power}


class Lowering:
    """Lowers trees of one program.

    Parameters:
        program    gets the events and start values that the trees need
        constants  names of the description's parameters
        resolve    other names (`E.x`, `column.angle_dot`) → expression
    """

    def __init__(self, program: Program, constants: dict[str, Expr], resolve: Callable[[str], Expr]) -> None:
        self.program, self.constants, self.resolve = program, constants, resolve
        self._started: dict[Tree, Expr] = {}
        self._events: dict[Tree, int] = {}

    def __call__(self, tree: Tree) -> Expr:
        """Array expression of a tree (expanded, see `differentiate.expand`)."""
        match tree:
            case Number(value):
                return ir.constant(value)
            case Name("t"):
                return TIME
            case Name(text):
                return self.constants[text] if text in self.constants else self.resolve(text)
            case Conditional():
                return self._conditional(tree)
            case Apply("neg", (argument,)):
                return -self(argument)
            case Apply("start", (argument,)):
                return self._start(argument)
            case Apply(function, arguments):
                lowered = [self(argument) for argument in arguments]
                if function in _ARITHMETIC:
                    return _ARITHMETIC[function](*lowered)
                return ir.call(function, *lowered)
        raise TypeError(tree)

    def add_breakpoints(self, tree: Tree) -> None:
        """Make the ends of quintics time events: the third derivative jumps there."""
        for time in differentiate.breakpoints(tree):
            if all(self.is_constant(name) for name in expressions.names(time)):
                self._event(time)

    def is_constant(self, name: str) -> bool:
        """Whether a name in an expression does not change during a run."""
        return name in self.constants

    def _event(self, time: Tree) -> int:
        if time not in self._events:
            self._events[time] = len(self.program.events)
            self.program.events.append(self(time))
        return self._events[time]

    def _conditional(self, tree: Conditional) -> Expr:
        left, right, then, otherwise = (self(child) for child in expressions.children(tree))
        time = differentiate.switching_time(tree, self.is_constant)
        if time is None:
            return ir.choose(tree.comparison, left, right, then, otherwise)
        slope = self(differentiate.slope(tree))
        return ir.switch(tree.comparison, left, right, then, otherwise, self._event(time), slope)

    def _start(self, tree: Tree) -> Expr:
        if tree not in self._started:
            text = "_".join(dict.fromkeys(expressions.names(tree))).replace(".", "_") or "value"
            name = self.program.fresh(f"start_{text}")
            expr = self(differentiate.at_time_zero(differentiate.expand(tree)))
            self.program.start_values.append(StartValue(name, f"value at the start, {text}", expr, tree))
            self._started[tree] = ir.symbol(name)
        return self._started[tree]
