"""Cut the equations of a model into evaluation stages for the generated C code.

A stage is a CasADi function that may be followed by a dense linear solve; fmu/sources/core/equations.h
declares the C side. The stages are grouped by what they depend on:

- PREPARE depends on parameters only and is evaluated once.
- DYNAMICS computes the state derivatives.
- OUTPUTS computes everything else that outputs need.
- Each projection onto the constraints has its own group, which depends on the state and time alone.

Stages pass values to each other in blocks of a single workspace array.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TypeAlias

import casadi as ca

from ...generator.program.items import ConstrainedSolve, Definition, Item, LinearSolve, TreeSolve, given, used
from ...generator.program.program import EquationSystem
from ...language import ir
from ...language.ir import Expr, Shape
from ...language.piecewise import PIECE
from .casadi_eval import SX, Evaluator, needed
from .staged import (
    GROUPS,
    INPUT_ORDERS,
    LEVELS,
    AnySystem,
    Block,
    ConstrainedSystem,
    Label,
    Stage,
    Staged,
    StagedSystem,
    TreeSystem,
)
from .start import StartStages
from .tape import with_own_registers

_TREE_FACTORS = 7  # The solver in fmu/sources/algebra/tree_solve.h stores this many factors for each coordinate.
# A stage may use only values of stages in groups that precede its own group in the same chain.
_CHAINS = (
    ("dynamics", "outputs"),
    ("violations",),
    ("project_position",),
    ("project_velocity",),
    ("start_checks",),
    ("checks",),
    ("lengths",),
    ("samples",),
)


def stage(program: EquationSystem) -> Staged:
    """Cut the equations of a model into evaluation stages."""
    return _Cutter(program).staged()


Solve: TypeAlias = LinearSolve | TreeSolve | ConstrainedSolve


@dataclass(frozen=True)
class _Plan:
    """Plan of an evaluation stage.

    The stage evaluates definitions, and then either solves a linear system or stores results.
    `results` maps the name of a workspace block to the expressions whose values are stored in the block.
    """

    group: str
    items: tuple[Item, ...]
    results: Mapping[str, Sequence[Expr]]

    @property
    def solve(self) -> Solve | None:
        last = self.items[-1] if self.items else None
        return last if isinstance(last, Solve) else None

    def reads(self) -> set[str]:
        """Return the names of all symbols in the expressions of the planned evaluation stage."""
        exprs = chain.from_iterable((*(item.exprs for item in self.items), *self.results.values()))
        return {name for expr in exprs for name in expr.symbols}

    def uses(self) -> set[str]:
        """Return the names of all symbols and coordinate partitions that the evaluation stage uses."""
        return self.reads() | {name for item in self.items for name in used(item)}


class _Cutter:
    def __init__(self, program: EquationSystem) -> None:
        self.program = program
        self.result = Staged()
        # The dictionary contains CasADi expressions of inputs and of results of earlier evaluation stages.
        self.known: dict[str, SX] = {}
        self.arguments: list[tuple[SX, Block]] = []
        # The set contains the names of the variables that at least one evaluation stage reads.
        self.read: set[str] = set()
        self._base_blocks()

    def staged(self) -> Staged:
        plans = self._plans()
        self.read = {name for group in plans.values() for plan in group for name in plan.reads()}
        chains = [[plan for group in groups for plan in plans[group]] for groups in _CHAINS]
        later = set().union(*(plan.uses() for each in chains for plan in each))
        self._run(plans["prepare"], later.union(*(plan.uses() for plan in plans["start"])))
        # The initial state uses the intervals of lookup tables that apply at t = 0.
        self._exchange("pieces", "start_pieces")
        if self.program.start is not None:
            StartStages(self.program, self.result, self.known, self.arguments).add()
        self._run(plans["start"], later)
        self._exchange("start_pieces", "pieces")
        known, arguments = self.known, self.arguments
        for each in chains:
            self.known, self.arguments = dict(known), list(arguments)
            self._run(each, set())
        return self.result

    def _run(self, plans: list[_Plan], beyond: set[str]) -> None:
        """Create evaluation stages from plans and append them to the result, in the order of evaluation.

        The argument `beyond` contains the names of values that stages outside of these plans read.
        """
        for position, plan in enumerate(plans):
            self._stage(plan, beyond.union(*(other.uses() for other in plans[position + 1 :])))

    def _exchange(self, old: str, new: str) -> None:
        blocks = self.result.blocks
        self.arguments = [(x, blocks[new] if block == blocks[old] else block) for x, block in self.arguments]

    def _base_blocks(self) -> None:
        program = self.program
        self._argument("time", [("time", ())])
        self._argument("states", [(state.variable, ()) for state in program.states])
        self._argument("inputs", [(entry.name, ()) for entry in program.inputs])
        held = [variable.variable for sampling in program.samplings for variable in sampling.held]
        switches: list[tuple[str, Shape]] = [("", (len(program.events) + len(program.relations),))]
        switches += [(name, ()) for name in held]
        switches += [(f"samples of {sampling.origin}", ()) for sampling in program.samplings]
        self.switches = self._argument("switches", switches)
        self._argument("parameters", [(entry.name, entry.shape) for entry in program.parameters])
        self._argument("pieces", [(lookup.name, (PIECE,)) for lookup in program.lookups])
        states = [state.variable for state in program.states]
        for name, members in (
            ("start_pieces", [(lookup.name, PIECE) for lookup in program.lookups]),
            ("table_arguments", [(f"argument of {lookup.name}", 2) for lookup in program.lookups]),
            ("input_derivatives", [(f"derivatives of {entry.name}", INPUT_ORDERS) for entry in program.inputs]),
            ("start_states", [(state, 1) for state in states]),
            ("start_values", [(value.name, 1) for value in program.start_values]),
            ("event_times", [(f"time of {event.name}", 1) for event in program.events]),
            ("derivatives", [(f"der({state})", 1) for state in states]),
            ("indicators", [(relation.name, 1) for relation in program.relations]),
            ("outputs", [(output.name, 1) for output in program.outputs]),
            ("violations", [(level, 1) for level in LEVELS if program.projections]),
            ("corrections", [(level, 1) for level in LEVELS if program.projections]),
            ("start_checks", [("start_check", len(program.start_checks))]),
            ("checks", [("check", len(program.checks))]),
            ("periods", [(f"sample time of {sampling.origin}", 1) for sampling in program.samplings]),
            ("start_held", [(name, 1) for name in held]),
            ("samples", [(name, 1) for name in held]),
            ("lengths", [(f"length of {length.line}, and its rate", 2) for length in program.lengths]),
            ("calculated", [(item.name, math.prod(item.shape)) for item in program.calculated]),
            ("requirements", [("requirement", len(program.requirements))]),
            *(
                (
                    f"{level}_change",
                    [(f"change of {state}", 1) for state in states if level in program.projections],
                )
                for level in LEVELS
            ),
        ):
            block = self.result.allocate(sum(size for _, size in members), name)
            self.result.labels[block] = Label.of(name, members)

    def _argument(self, name: str, members: list[tuple[str, Shape]]) -> SX:
        self.result.allocate(sum(math.prod(shape) for _, shape in members), name)
        return self._argument_of(name, members)

    def _argument_of(self, name: str, members: list[tuple[str, Shape]]) -> SX:
        sizes = [math.prod(shape) for _, shape in members]
        vector = ca.SX.sym(name, sum(sizes))
        self.arguments.append((vector, self.result.blocks[name]))
        named = zip((member for member, _ in members), sizes, strict=True)
        self.result.labels[self.result.blocks[name]] = Label.of(name, named)
        ends = list(accumulate(sizes))
        for (member, _), size, end in zip(members, sizes, ends, strict=True):
            self.known[member] = vector[end - size : end]
        return vector

    def _plans(self) -> dict[str, list[_Plan]]:
        plans: dict[str, list[_Plan]] = {group: [] for group in GROUPS}
        groups = self._groups()
        for group, results in self._results().items():
            *solves, rest = _runs(groups[group])
            plans[group] += [_Plan(group, tuple(items), {}) for items in solves]
            plans[group].append(_Plan(group, tuple(rest), results))
        return plans

    def _results(self) -> dict[str, dict[str, Sequence[Expr]]]:
        """Return the expressions whose values the evaluation stages store.

        The outer mapping has groups of stages as keys. Each inner mapping has names of workspace blocks
        as keys.
        """
        program = self.program
        results: dict[str, dict[str, Sequence[Expr]]] = {
            "prepare": {
                "start_states": [] if program.start else [state.start for state in program.states],
                "calculated": [ir.symbol(item.name, item.shape) for item in program.calculated],
                "requirements": [required.value for required in program.requirements],
                "periods": [sampling.period for sampling in program.samplings],
                "start_held": [variable.start for sampling in program.samplings for variable in sampling.held],
                "table_arguments": [x for lookup in program.lookups for x in (lookup.begin, lookup.rate)],
            },
            "start": {
                "event_times": [event.time for event in program.events],
                "start_values": [ir.symbol(value.name) for value in program.start_values],
            },
            "dynamics": {
                "derivatives": [state.derivative for state in program.states],
                "indicators": [relation.indicator for relation in program.relations],
            },
            "outputs": {"outputs": [output.expr for output in program.outputs]},
        }
        for level, projection in program.projections.items():
            results[f"project_{level}"] = {f"{level}_change": projection.change}
        if program.projections:
            results["violations"] = {"violations": self._violations()}
        for name, checks in (("start_checks", program.start_checks), ("checks", program.checks)):
            if checks:
                results[name] = {name: [check.value for check in checks]}
        if program.samplings:
            results["samples"] = {"samples": self._samples()}
        if program.lengths:
            results["lengths"] = {"lengths": self._lengths()}
        return results

    def _violations(self) -> list[Expr]:
        projections = self.program.projections
        return [projections[key].violation if key in projections else ir.constant(0.0) for key in LEVELS]

    def _lengths(self) -> list[Expr]:
        return [expr for length in self.program.lengths for expr in (length.value, length.rate)]

    def _samples(self) -> list[Expr]:
        """Return expressions for the values of all sampled variables after a sampling instant."""
        return [value for sampling in self.program.samplings for value in sampling.values]

    def _groups(self) -> dict[str, list[Item]]:
        program = self.program
        running = [relation.indicator for relation in program.relations]
        moving = needed(program, [*(state.derivative for state in program.states), *running])
        wanted = needed(self.program, [output.expr for output in program.outputs])
        started = self._after({value.name for value in program.start_values})
        groups: dict[str, list[Item]] = {group: [] for group in GROUPS}
        for item in program.items:
            if isinstance(item, Definition) and item.constant:
                groups["start" if item.name in started else "prepare"].append(item)
            elif moving & {*given(item)}:
                groups["dynamics"].append(item)
            elif wanted & {*given(item)}:
                groups["outputs"].append(item)
        groups["dynamics"] = _with_checks_last(groups["dynamics"])
        groups["violations"] = self._definitions(self._violations())
        groups["start_checks"] = self._definitions(check.value for check in program.start_checks)
        groups["checks"] = self._definitions(check.value for check in program.checks)
        groups["lengths"] = self._definitions(self._lengths())
        groups["samples"] = self._definitions(self._samples())
        for level, projection in program.projections.items():
            solve = projection.solve
            groups[f"project_{level}"] = [*self._definitions([solve.matrix, solve.right]), solve]
        return groups

    def _definitions(self, roots: Iterable[Expr]) -> list[Item]:
        """Return the definitions and linear solves on which expressions depend.

        Definitions that depend on parameters only are excluded.
        """
        names = needed(self.program, roots)
        return [
            item
            for item in self.program.items
            if item.name in names and not (isinstance(item, Definition) and item.constant)
        ]

    def _after(self, names: set[str]) -> set[str]:
        """Return the given variable names, and the names of all variables that depend on these variables."""
        found = set(names)
        for item in self.program.items:
            if used(item) & found:
                found |= set(given(item))
        return found

    def _stage(self, plan: _Plan, later: set[str]) -> None:
        """Create an evaluation stage from its plan and append it to the result.

        `later` contains the names of values that subsequent stages read.
        """
        inputs = list(self.arguments)
        evaluate = Evaluator(self.program, self.known, self.switches)
        if plan.group == "start":
            states = ca.SX.sym("start_states", len(self.program.states))
            inputs.append((states, self.result.blocks["start_states"]))
            evaluate.known |= self._start_values(states)
        evaluate.prepare(item.name for item in plan.items)
        values, places, labels = self._solve_or_results(plan, evaluate)
        carried = [item.name for item in plan.items if isinstance(item, Definition) and item.name in later]
        entries = self._carry({name: evaluate.known[name] for name in carried})
        if entries:
            values.append(ca.vertcat(*entries))
            places.append(self.arguments[-1][1])
            labels.append(self.result.labels[places[-1]])
        function = with_own_registers(
            f"{plan.group}_{len(self.result.stages)}",
            [symbol for symbol, _ in inputs],
            _once(values),
        )
        name, about = plan.group, ""
        if plan.solve:
            name, about = re.split("[;:]", plan.solve.description)[0], plan.solve.about
        system = self._add_solution(plan.solve, places) if plan.solve else None
        arguments = tuple(block for _, block in inputs)
        self.result.stages.append(
            Stage(name, about, plan.group, function, arguments, tuple(places), system, tuple(labels))
        )
        if plan.group == "start":
            self._argument_of("start_values", [(value.name, ()) for value in self.program.start_values])

    def _solve_or_results(self, plan: _Plan, evaluate: Evaluator) -> tuple[list[SX], list[Block], list[Label]]:
        if plan.solve is not None:
            values = _values(plan.solve, evaluate)
            return values, [self.result.allocate(value.numel()) for value in values], _roles(plan.solve)
        names = [name for name, exprs in plan.results.items() if exprs]
        values = [ca.vertcat(*[evaluate(expr) for expr in plan.results[name]]) for name in names]
        places = [self.result.blocks[name] for name in names]
        return values, places, self.result.read(places)

    def _start_values(self, states: SX) -> dict[str, SX]:
        """Return the values of all expressions `start(x)`, which denote the initial value of x."""
        if not self.program.start_values:
            return {}
        variables = [state.variable for state in self.program.states]
        at_start = dict(zip(variables, ca.vertsplit(states), strict=True)) | {"time": ca.SX(0)}
        start = Evaluator(self.program, self.known | at_start, None)
        start.prepare(needed(self.program, [value.expr for value in self.program.start_values]))
        return {value.name: start(value.expr) for value in self.program.start_values}

    def _carry(self, values: Mapping[str, SX]) -> list[SX]:
        """Return the values that later stages need, without duplicates.

        The method also defines the symbols by which later stages read these values.
        """
        rows = {name: value.T for name, value in values.items()}
        entries = {name: [(entry.element_hash(), entry) for entry in row.nonzeros()] for name, row in rows.items()}
        # Numbers and function arguments need no copy in the workspace, because stages use them directly.
        # Equal off-diagonal entries of a symmetric matrix share one expression, whose value is stored only once.
        nodes = {
            node: entry
            for node, entry in chain.from_iterable(entries.values())
            if not (entry.is_constant() or entry.is_symbolic())
        }
        title = f"carried_{len(self.result.stages)}"
        symbol = ca.SX.sym(title, len(nodes))
        carried = dict(zip(nodes, ca.vertsplit(symbol), strict=True))
        for name, row in rows.items():
            known = [carried.get(node, entry) for node, entry in entries[name]]
            self.known[name] = ca.SX(row.sparsity(), ca.vertcat(*known)).T
        if nodes:
            block = self.result.allocate(len(nodes))
            self.arguments.append((symbol, block))
            self.result.labels[block] = Label(title, _first_names(entries, nodes))
        return list(nodes.values())

    def _add_solution(self, solve: Solve, places: list[Block]) -> AnySystem:
        n, columns = solve.shape[0], (*solve.shape, 1)[1]
        if isinstance(solve, TreeSolve):
            return self._add_tree(solve, n, columns, places)
        if isinstance(solve, LinearSolve):
            solution = self._add_unknown(solve.name, n, columns, places[1])
            pivots = self.result.allocate(0 if solve.symmetric else n)
            solved = columns if solve.name in self.read else 0
            partition = (solve.ratios is not None, solve.ratios or 0)
            return StagedSystem(n, solved, places[0], solution, solve.symmetric, pivots, *partition)
        m = solve.wanted.shape[0]
        matrix, jacobian, right, wanted = places[:4]
        solution = self._add_unknown(solve.name, n, columns, self.result.allocate(n * columns))
        multipliers = self.result.allocate(m * columns)
        self.result.labels[multipliers] = Label("multipliers")
        if solve.multipliers is not None:
            self._add_unknown(solve.multipliers, m, columns, multipliers)
        work = self.result.allocate(_work_size(n, m, columns))
        return ConstrainedSystem(n, m, columns, matrix, jacobian, right, wanted, solution, multipliers, work)

    def _add_tree(self, solve: TreeSolve, n: int, columns: int, places: list[Block]) -> TreeSystem:
        tree, system = solve.tree, solve.system
        jacobian, right, wanted = Block(0, 0), places[4], Block(0, 0)
        if isinstance(system, ConstrainedSolve):
            jacobian, right, wanted = places[4:7]
        m = wanted.size // columns
        self.result.labels[wanted] = Label("multipliers")
        self._add_unknown(system.name, n, columns, right)
        if isinstance(system, ConstrainedSolve) and system.multipliers is not None:
            self._add_unknown(system.multipliers, m, columns, wanted)
        axes, inertias, arms, armatures = places[:4]
        factors, work = (self.result.allocate(size) for size in (_TREE_FACTORS * n, m and n * (m + 1) + 2 * m))
        of_rows = (jacobian, right, wanted, factors, work)
        shape = (n, m, columns, len(tree.links))
        return TreeSystem(*shape, axes, inertias, arms, armatures, *of_rows, tree.parents, tree.ends, tree.motions)

    def _add_unknown(self, name: str, rows: int, columns: int, block: Block) -> Block:
        symbol = ca.SX.sym(name, rows * columns)
        self.arguments.append((symbol, block))
        self.result.labels[block] = Label.of(name, [(name, rows * columns)])
        self.known[name] = ca.reshape(symbol, rows, columns)
        return block


def _values(solve: Solve, evaluate: Evaluator) -> list[SX]:
    """Return the matrices and right-hand sides of a linear system as expressions, for the C solver.

    The mass matrix of a tree of bodies is replaced by the arrays from which the C solver forms it.
    """
    if not isinstance(solve, TreeSolve):
        return [evaluate(expr) for expr in solve.exprs]
    blocks = [ca.vertcat(*map(evaluate, block)) for block in solve.tree.blocks]
    return blocks + [evaluate(expr) for expr in solve.system.exprs[1:]]


def _roles(solve: Solve) -> list[Label]:
    """Return labels that name the role of each array in a linear system, for the C solver.

    For example, the label of the right-hand side is `right`.
    """
    system = solve.system if isinstance(solve, TreeSolve) else solve
    rest = ["right"] if isinstance(system, LinearSolve) else ["jacobian", "right", "wanted"]
    matrices = ["axes", "inertias", "arms", "armatures"] if isinstance(solve, TreeSolve) else ["matrix"]
    return [Label(name) for name in (*matrices, *rest)]


def _first_names(entries: Mapping[str, Sequence[tuple[int, SX]]], nodes: Iterable[int]) -> tuple[str, ...]:
    """Return a variable name for each value that later stages read.

    If several variables contain the same value, the first variable gives the name. For an array, the
    name includes the index of the value among the array's non-zero elements.
    """
    found: dict[int, str] = {}
    for name, own in entries.items():
        for i, (node, _) in enumerate(own):
            found.setdefault(node, f"{name}[{i}]" if len(own) > 1 else name)
    return tuple(found[node] for node in nodes)


def _work_size(n: int, m: int, columns: int) -> int:
    """Return the number of doubles of scratch memory that the C solver for constrained systems needs.

    The solver is implemented in fmu/sources/algebra/constrained_solve.c.
    """
    free = n - m
    return m * (n + m) + free * (free + columns) + 2 * n + m


def _once(values: list[SX]) -> list[SX]:
    """Convert expressions to dense matrices and eliminate common subexpressions."""
    return ca.cse([ca.densify(value) for value in values]) if values else []


def _with_checks_last(items: Sequence[Item]) -> list[Item]:
    """Return definitions and linear solves in a new order, with unused linear solves at the end.

    The solution of an unused linear solve is not read by any definition or other linear solve. The
    evaluation stages of unused linear solves need not pass any values to later stages.
    """
    read = {name for item in items for expr in item.exprs for name in expr.symbols}
    unread = [item for item in items if isinstance(item, LinearSolve) and item.name not in read]
    return [*(item for item in items if item not in unread), *unread]


def _runs(items: list[Item]) -> list[list[Item]]:
    """Split a list of definitions and linear solves after each linear solve.

    The last part contains the definitions after the last linear solve, and may be empty.
    """
    runs: list[list[Item]] = [[]]
    for item in items:
        runs[-1].append(item)
        if not isinstance(item, Definition):
            runs.append([])
    return runs
