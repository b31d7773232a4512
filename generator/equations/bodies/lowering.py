"""Expressions of the description → those of the equations, with their switches and start values."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from ...language import differentiate, expressions, ir
from ...language.ir import Expr
from ...program.program import Event, Program, StartValue

TIME = ir.symbol("time")


class Lowering:
    """Puts what a program calls them in place of the names in the description's expressions.

    Parameters:
        program    gets the events and start values that the expressions need
        constants  names of the description's parameters
        resolve    other names (`E.x`, `column.angle_dot`) → expression
    """

    def __init__(self, program: Program, constants: dict[str, Expr], resolve: Callable[[str], Expr]) -> None:
        self.program, self.constants, self.resolve = program, constants, resolve
        self._started: dict[Hashable, Expr] = {}
        self._events: dict[Hashable, str] = {}

    def __call__(self, tree: Expr) -> Expr:
        """The program's expression for one of the description (expanded, see `differentiate.expand`)."""
        if tree.op == "symbol":
            return self._named(tree.data)
        if tree.op == "if":
            return self._conditional(tree)
        if tree.function == "start":
            return self._start(tree.args[0])
        return ir.rebuilt(tree, [self(argument) for argument in tree.args])

    def add_breakpoints(self, tree: Expr) -> None:
        """Make the ends of quintics time events: the third derivative jumps there."""
        for time in differentiate.breakpoints(tree):
            if all(map(self.is_constant, ir.symbols(time))):
                self._event(self(time), None)

    def is_constant(self, name: str) -> bool:
        """Whether a name in an expression does not change during a run."""
        return name in self.constants

    def _named(self, name: str) -> Expr:
        if name == "t":
            return TIME
        return self.constants[name] if self.is_constant(name) else self.resolve(name)

    def _event(self, time: Expr, rate: Expr | None) -> str:
        """Name of the event at that time."""
        key = ir.key(time), None if rate is None else ir.key(rate)
        if key not in self._events:
            name = self._events[key] = self.program.fresh(f"switched_{len(self.program.events) + 1}")
            self.program.events.append(Event(name, time, rate))
        return self._events[key]

    def _conditional(self, tree: Expr) -> Expr:
        comparison, _ = tree.data
        left, right, then, otherwise = (self(child) for child in tree.args)
        time = differentiate.switching_time(tree, self.is_constant)
        if time is None:
            return ir.choose(comparison, left, right, then, otherwise)
        slope = self(differentiate.slope(tree))
        switched = self._event(self(time), slope)
        return ir.switch(comparison, left, right, then, otherwise, switched, slope)

    def _start(self, tree: Expr) -> Expr:
        key = ir.key(tree)
        if key not in self._started:
            text = "_".join(dict.fromkeys(expressions.names(tree))).replace(".", "_") or "value"
            name = self.program.fresh(f"start_{text}")
            expr = self(differentiate.at_time_zero(differentiate.expand(tree)))
            self.program.start_values.append(StartValue(name, f"value at the start, {text}", expr, tree))
            self._started[key] = ir.symbol(name)
        return self._started[key]
