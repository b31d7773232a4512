"""Translation of a description's expressions: symbols of the program replace names of quantities.

The translation adds the time events, switching conditions and start values of an expression to the
program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping

from ....description.tables.table import Table
from ....language import differentiate, expressions, ir, piecewise
from ....language.ir import Expr
from ....language.piecewise import Piecewise
from ...program.program import Assertion, EquationSystem, Lookup, StartValue, TimeEvent

TIME = ir.symbol("time")
# If x is an expression, the variable for `start(x)` is named after at most this number of the quantities in x.
_NAMED = 3
_ROUNDING = 1e-9  # The argument of a lookup table may exceed the table's range by this fraction of half the range.

# Functions with kinks or jumps are replaced by conditions, so that Modelica events locate the kinks and jumps.
_KINKED: dict[str, Callable[..., Expr]] = {
    "abs": lambda x: _by_sign(x, x, -x),
    "sign": differentiate.sign_by_conditions,
    "min": lambda a, b: ir.choose("<=", a, b, a, b),
    "max": lambda a, b: ir.choose(">=", a, b, a, b),
}


def _by_sign(x: Expr, above: Expr, below: Expr) -> Expr:
    zero = ir.constant(0.0)
    return ir.choose(">", x, zero, above, ir.choose("<", x, zero, below, zero))


class Lowering:
    """Translator of the description's expressions, which replaces names by symbols of the program.

    Parameters
    ----------
    program
        Program that receives the events and start values found in expressions.
    constants
        Mapping from the name of each parameter of the description to its symbol.
    resolve
        Function that returns the expression of any other name (`E.x`, `column.angle_dot`).
    tables
        Lookup tables of the description, by name.
    """

    def __init__(
        self,
        program: EquationSystem,
        constants: dict[str, Expr],
        resolve: Callable[[str], Expr],
        tables: Mapping[str, Table],
    ) -> None:
        self.program, self.constants, self.resolve, self.tables = program, constants, resolve, tables
        self._lookups: dict[Hashable, Lookup] = {}
        self._functions: dict[str, tuple[str, Piecewise]] = {}
        self._started: dict[Hashable, Expr] = {}
        self._events: dict[Hashable, str] = {}
        self._relations: dict[Hashable, str] = {}
        self._eventful = True  # Conditions trigger events, except inside `noevent(…)` and `start(…)`.

    def __call__(self, tree: Expr) -> Expr:
        """Return the program's expression for an expression of the description.

        The argument must be expanded by `differentiate.expand`.
        """
        if tree.op == "symbol":
            return self._named(tree.data)
        if tree.op == "if":
            return self._conditional(tree)
        if tree.op == "table":
            return self._table(tree)
        if tree.function == "start":
            return self._start(tree.args[0])
        if tree.function == "noevent":
            return self.without_events(tree.args[0])
        if tree.function in _KINKED and self._has_events(tree):
            return self(_KINKED[tree.function](*tree.args))
        return ir.rebuilt(tree, [self(argument) for argument in tree.args])

    def _has_events(self, tree: Expr) -> bool:
        """Whether a function with kinks or jumps, such as `sign(x)`, triggers events.

        A jump of `sign(x)` at a known time triggers an event even inside `noevent(…)`.
        """
        if differentiate.switches_sign(tree, self.is_constant):
            return True
        return self._eventful and not self._is_settled(tree)

    def add_breakpoints(self, tree: Expr) -> None:
        """Register the start and end times of quintic polynomials in an expression as time events.

        At these times, the third time derivative of the expression jumps. Every expression that depends on
        time is also added to the program's list of such expressions.
        """
        if "t" in expressions.running_names(tree):
            self.program.timed.append(tree)
        for time in differentiate.breakpoints(tree):
            if self._is_settled(time):
                self._event(self(time), None)

    def is_constant(self, name: str) -> bool:
        """Whether a name is the name of a parameter in the description."""
        return name in self.constants

    def _named(self, name: str) -> Expr:
        if name == "t":
            return TIME
        return self.constants[name] if self.is_constant(name) else self.resolve(name)

    def _event(self, time: Expr, rate: Expr | None) -> str:
        """Return the name of the switch variable for an event time.

        The first request for an event time adds a time event to the program.
        """
        key = ir.key(time), None if rate is None else ir.key(rate)
        if key not in self._events:
            name = self._events[key] = self.program.fresh(f"switched_{len(self.program.events) + 1}")
            self.program.events.append(TimeEvent(name, time, rate))
        return self._events[key]

    def _conditional(self, tree: Expr) -> Expr:
        comparison, _ = tree.data
        left, right, then, otherwise = (self(child) for child in tree.args)
        time = differentiate.switching_time(tree, self.is_constant)
        if time is not None:
            slope = self(differentiate.slope(tree))
            switched = self._event(self(time), slope)
            return ir.switch(comparison, left, right, then, otherwise, switched, slope)
        if not self._eventful or all(map(self._is_settled, tree.args[:2])):
            return ir.choose(comparison, left, right, then, otherwise)
        return self.relation(comparison, left, right, then, otherwise)

    def relation(self, comparison: str, left: Expr, right: Expr, then: Expr, otherwise: Expr) -> Expr:
        """Return a conditional expression whose condition changes at state events only.

        Comparisons `>` and `<=` between the same two expressions share one event indicator.
        """
        larger, smaller = (left, right) if comparison in (">", "<=") else (right, left)
        indicator = larger - smaller
        key = ir.key(indicator)
        if key not in self._relations:
            self._relations[key] = self.program.relate(indicator)
        return ir.relation(comparison, left, right, then, otherwise, self._relations[key])

    def _table(self, tree: Expr) -> Expr:
        """Return the value or a derivative of a lookup table.

        If a cubic or pchip table has zero slope at its ends, its value is constant before the first point
        and after the last point.
        """
        (name, order, inside), (argument,) = tree.data, tree.args
        table = self.tables[name]
        if inside or table.ends == "free" or table.interpolation == "linear":
            lookup = self._lookup(name, argument)
            return piecewise.derivative(piecewise.symbol(lookup.name), lookup.argument, order)
        (first, last), (begin, end) = ([*map(ir.constant, ends)] for ends in (table.span, table.end_values))
        before, after = (begin, end) if order == 0 else (differentiate.ZERO, differentiate.ZERO)
        within = ir.table(name, argument, order, inside=True)
        return self(ir.choose("<", argument, first, before, ir.choose(">=", argument, last, after, within)))

    def _lookup(self, name: str, argument: Expr) -> Lookup:
        key = name, ir.key(argument)
        if key not in self._lookups:
            if name not in self._functions:
                self._functions[name] = self.program.fresh(f"{name}_table"), _pieces(self.tables[name])
            function, pieces = self._functions[name]
            begin = self(differentiate.at_time_zero(argument))
            rate = self(differentiate.derivative(argument, "t"))
            text = f"current piece of table {name}: begin, s, and coefficients; units differ by element"
            self._check_ends(name, begin + rate * TIME)
            lookup = Lookup(self.program.fresh(f"{name}_piece"), function, pieces, begin, rate, text)
            self.program.lookups.append(lookup)
            self._lookups[key] = lookup
        return self._lookups[key]

    def _check_ends(self, name: str, argument: Expr) -> None:
        """Add an assertion that the argument of a lookup table stays within the range of the table.

            Only tables with `ends = "free"` need this assertion, because all other tables are defined for every
        argument.
        """
        table = self.tables[name]
        if table.ends == "free":
            first, last = table.span
            beyond = ir.call("abs", argument - (first + last) / 2)
            text = (
                f"table {name} covers {first:.9g} s to {last:.9g} s, and its argument has left this range at t ="
            )
            self.program.checks.append(Assertion(beyond, (last - first) / 2 * (1 + _ROUNDING), text))

    def _is_settled(self, tree: Expr) -> bool:
        return all(map(self.is_constant, expressions.running_names(tree)))

    def without_events(self, tree: Expr) -> Expr:
        """Translate an expression of the description such that none of its conditions triggers an event."""
        before, self._eventful = self._eventful, False
        lowered = self(tree)
        self._eventful = before
        return lowered

    def _start(self, tree: Expr) -> Expr:
        key = ir.key(tree)
        if key not in self._started:
            names = list(dict.fromkeys(expressions.names(tree))) or ["value"]
            name = self.program.fresh(re.sub(r"\W", "_", "_".join(["start", *names[:_NAMED]])))
            value = differentiate.just_after_zero(differentiate.expand(tree), self.is_constant)
            expr = self.without_events(value)
            text = f"expression {names[0]}" if tree.op == "symbol" else f"an expression with {', '.join(names)}"
            self.program.start_values.append(StartValue(name, f"initial value of {text}", expr, tree))
            self._started[key] = ir.symbol(name)
        return self._started[key]


def _pieces(table: Table) -> Piecewise:
    if table.interpolation == "linear":
        return piecewise.linear(*table.points, kinks=table.has_kinks)
    at_rest = table.ends == "rest"
    if table.interpolation == "pchip":
        return piecewise.monotone(*table.points, at_rest=at_rest, kinks=table.has_kinks)
    return piecewise.cubic(*table.points, at_rest=at_rest)
