"""Optimisation within bounds by differential evolution or the Nelder–Mead method."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import differential_evolution, minimize

from ..core.errors import DescriptionError, Problem, SolveError
from ..core.trajectory import Array
from ..description import Description
from ..language.suggest import several
from ..options.many import OptimizeOptions
from .checks import wrong_numbers
from .gathered import GatheredComplaints
from .objectives import Objective, objectives
from .pools import WorkerCrash, Workers, results
from .runs import ResultChunk, RunRequest, work
from .structures import Structure
from .sweep import check_scheduler, check_signals, job_of, known_structures, workers_of
from .variations import Distribution, Variation, variations

METHODS = ("evolution", "simplex")
# If a constraint is violated or a run fails, the optimiser gets one of these large values as the objective.
_INFEASIBLE, _FAILED = 1e30, 1e60
# The population has at least this number of members per varied key, which is SciPy's default value.
_POPULATION = 15


@dataclass(frozen=True)
class Limit:
    """Inequality constraint of an optimisation.

    The constraint is sign · objective ≤ sign · number, where the sign is 1 or −1.
    """

    objective: Objective
    sign: int
    number: float

    @property
    def text(self) -> str:
        return f"{self.objective.text} {'<=' if self.sign > 0 else '>='} {self.number:g}"

    def violation(self, value: float) -> float:
        """Return the amount by which a value violates the constraint; 0 without a violation.

        The violation is relative to the magnitude of the constraint's bound. If the bound is 0, the
        violation is absolute.
        """
        return max(0.0, self.sign * (value - self.number) / (abs(self.number) or 1.0))


@dataclass(frozen=True)
class Optimum:
    """Result of an optimisation.

    Parameters
    ----------
    values
        Best value of each key.
    objective
        Value of the objective at the best values.
    constraints
        Value of the left-hand side of each constraint at the best values; the key is the text of
        the constraint.
    feasible
        Whether the best values fulfil all constraints.
    converged
        Whether the search converged before the maximum number of runs.
    runs
        Number of simulations.
    failures
        Number of failed simulations.
    reason
        Reason why the last failed simulation failed; empty if no simulation failed.

    Examples
    --------
    >>> import gpmelica as gp
    >>> best = gp.Optimum({"payload": 250.0}, 1.5, {}, True, True, runs=40, failures=0)
    >>> best.data()["values"]
    {'payload': 250.0}
    """

    values: Mapping[str, float]
    objective: float
    constraints: Mapping[str, float]
    feasible: bool
    converged: bool
    runs: int
    failures: int
    reason: str = ""

    def data(self) -> dict[str, Any]:
        """Return the result as plain data.

        Returns
        -------
        dict
            Values that the module `json` accepts.
        """
        return asdict(self)


def limits(texts: Sequence[str]) -> tuple[Limit, ...]:
    """Parse constraints of the form `expression <= number` or `expression >= number`.

    Raises
    ------
    DescriptionError
        If texts are invalid; the error lists all problems.
    """
    found, problems = list[Limit](), list[Problem]()
    for text in texts:
        match = re.fullmatch(r"(.*?)(<=|>=|<|>)\s*([-+.\deE]+)\s*", text, re.DOTALL)
        try:
            number = float(match[3]) if match else np.nan
        except ValueError:
            number = np.nan
        option = f"--constraint {text!r}"
        if match is None or not np.isfinite(number):
            problems.append(
                Problem(
                    option,
                    "expected a constraint of the form: expression <= number, or expression >= number",
                )
            )
            continue
        try:
            (objective,) = objectives([f"constraint{len(found) + 1}={match[1].strip()}"])
        except DescriptionError as error:
            problems += [Problem(option, problem.message) for problem in error.problems]
            continue
        found.append(Limit(objective, 1 if match[2][0] == "<" else -1, number))
    if problems:
        raise DescriptionError("optimize", problems)
    return tuple(found)


def optimize(chain: Description, source: str, search: OptimizeOptions, out: Path) -> Optimum:
    """Search for the values of keys, within bounds, that minimise an objective.

    Raises
    ------
    DescriptionError
        If keys, bounds, objective or options are invalid.
    SolveError
        If all runs fail.
    """
    progress = search.progress
    given = GatheredComplaints("optimize")
    varied, held = given(variations, _settings(search.bounds)), given(limits, several(search.constraints))
    asked = given(objectives, [search.objective])
    bounds = given(_bounds, varied, search)
    given(check_scheduler, search.scheduler)
    given.all_well()
    wanted = (*asked, *(limit.objective for limit in held))
    found = known_structures(chain, source, varied, (wanted, ()), progress)
    check_signals(source, found, wanted, ())
    job = job_of(found, out, wanted, (), progress)
    workers = workers_of(search.scheduler, job)
    with workers.opened(None) as pool, np.errstate(over="ignore"):
        judge = _Judge(workers, pool, job.key, found[0], bounds, held, search)
        ended = _SEARCHES[search.method](judge, search)
    return judge.best(bool(ended.success))


def _settings(
    bounds: Mapping[str, tuple[float, float]] | str | Sequence[str],
) -> Mapping[str, str] | Sequence[str]:
    """Return the bounds of the varied keys in a form that the function `variations` accepts.

    A pair of bounds becomes a text such as `uniform(1,2)`. Bounds that are already texts remain
    unchanged.
    """
    if isinstance(bounds, Mapping):
        return {key: f"uniform({least!r},{most!r})" for key, (least, most) in bounds.items()}
    return several(bounds)


def _bounds(varied: Sequence[Variation], search: OptimizeOptions) -> dict[str, tuple[float, float]]:
    problems = [
        Problem(f"--set {v.key}", "expected the bounds of the key, as in uniform(100,1000)")
        for v in varied
        if not (isinstance(v, Distribution) and v.kind == "uniform")
    ]
    if search.method not in METHODS:
        problems.append(Problem("--method", f"expected one of {', '.join(METHODS)}, got {search.method!r}"))
    least = _population(len(varied)) if search.method == "evolution" else 1
    if search.evaluations < least:
        text = f"expected {least} or more for {len(varied)} keys by {search.method}, got {search.evaluations}"
        problems.append(Problem("--evaluations", text))
    if problems:
        raise DescriptionError("optimize", problems)
    return {v.key: (v.first, v.second) for v in varied if isinstance(v, Distribution)}


@dataclass
class _Judge:
    """Object that evaluates points for the optimiser and records the best point.

    The coordinates of a point are the key values, scaled from 0 to 1 within their bounds.
    """

    workers: Workers
    pool: Executor
    key: str
    structure: Structure
    bounds: Mapping[str, tuple[float, float]]
    held: Sequence[Limit]
    search: OptimizeOptions
    runs: int = 0
    failures: int = 0
    reason: str = ""
    rank: float = np.inf
    figures: Array = field(default_factory=lambda: np.empty(0))
    point: dict[str, float] = field(default_factory=dict)

    def ranks(self, places: Iterable[Array]) -> list[float]:
        """Return the values of the minimised function at several points.

        A point is an array of shape (keys,). The value is very large if the run at this point fails or
        violates a constraint.
        """
        asked = [self._asked(k, place) for k, place in enumerate(places)]
        found = {int(number): part for part in self._parts(asked) for number in part.numbers}
        ranks = []
        for one in asked:
            part = found[one.number]
            row = int(np.flatnonzero(part.numbers == one.number)[0])
            ranks.append(self._judged(one, part, row))
        self.search.progress("runs", min(self.runs / self.search.evaluations, 1.0))
        return ranks

    def best(self, converged: bool) -> Optimum:
        """Return the best point that the optimiser has found.

        Raises
        ------
        SolveError
            If all runs failed.
        """
        if not self.point:
            raise SolveError(f"all {self.runs} runs failed, the last one with: {self.reason}")
        held = {limit.text: float(value) for limit, value in zip(self.held, self.figures[1:], strict=False)}
        feasible = self.rank < _INFEASIBLE
        return Optimum(
            self.point, float(self.figures[0]), held, feasible, converged, self.runs, self.failures, self.reason
        )

    def _asked(self, number: int, place: Array) -> RunRequest:
        inside = np.clip(place, 0.0, 1.0)
        values = {
            key: float(least + (most - least) * x)
            for (key, (least, most)), x in zip(self.bounds.items(), inside, strict=True)
        }
        return RunRequest(number, 0, values, wrong_numbers(self.structure, values))

    def _parts(self, asked: Sequence[RunRequest]) -> Iterator[ResultChunk]:
        chunks = [asked[k :: self.workers.size] for k in range(min(self.workers.size, len(asked)))]
        tasks = [(self.key, chunk) for chunk in chunks]
        try:
            yield from [future.result() for future in [self.pool.submit(work, task) for task in tasks]]
        except self.workers.lost:
            singles = [(self.key, [one]) for one in asked]
            for task, came in results(self.workers, work, singles):
                if isinstance(came, WorkerCrash):
                    nothing = np.full((1, 1), np.nan)
                    yield ResultChunk(np.array([task[1][0].number]), (came.reason,), nothing, nothing[:, :, None])
                else:
                    yield came

    def _judged(self, one: RunRequest, part: ResultChunk, row: int) -> float:
        self.runs += 1
        if part.reasons[row]:
            self.failures, self.reason = self.failures + 1, part.reasons[row]
            return _FAILED
        figures = part.figures[row]
        lacking = sum(limit.violation(value) for limit, value in zip(self.held, figures[1:], strict=False))
        rank = float(
            np.clip(_INFEASIBLE * (1.0 + lacking) if lacking > 0.0 else figures[0], -_INFEASIBLE, _FAILED)
        )
        if rank < self.rank and rank < _FAILED:
            self.rank, self.figures, self.point = rank, figures, dict(one.values)
        return rank


def _evolution(judge: _Judge, search: OptimizeOptions) -> Any:
    """Minimise by differential evolution (Storn and Price 1997).

    The runs of each generation are distributed over all workers.
    """
    # SciPy's type hints wrongly reject a function as the argument `workers`, so this variable has the type Any.
    search_for: Any = differential_evolution
    keys = len(judge.bounds)
    return search_for(
        lambda place: judge.ranks([place])[0],
        [(0.0, 1.0)] * keys,
        maxiter=search.evaluations // _population(keys) - 1,
        popsize=_POPULATION,
        init="sobol",
        seed=search.seed,
        polish=False,
        updating="deferred",
        workers=lambda _, places: judge.ranks(places),
    )


def _population(keys: int) -> int:
    """Return the population size for differential evolution.

    The size is the smallest power of 2 that is at least 15 times the number of keys.
    """
    return 1 << (_POPULATION * keys - 1).bit_length()


def _simplex(judge: _Judge, search: OptimizeOptions) -> Any:
    """Minimise by the simplex method (Nelder and Mead 1965), starting at the centre of the bounds.

    The runs are sequential.
    """
    keys = len(judge.bounds)
    simplex = np.vstack([np.full(keys, 0.5), 0.5 + 0.2 * np.eye(keys)])
    search_for: Any = minimize
    return search_for(
        lambda place: judge.ranks([place])[0],
        simplex[0],
        method="Nelder-Mead",
        bounds=[(0.0, 1.0)] * keys,
        options={"maxfev": search.evaluations, "initial_simplex": simplex, "xatol": 1e-6, "fatol": 1e-9},
    )


_SEARCHES: dict[str, Callable[[_Judge, OptimizeOptions], Any]] = {"evolution": _evolution, "simplex": _simplex}
