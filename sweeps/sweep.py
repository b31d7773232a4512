"""Parameter sweep: compilation of the FMUs, distribution of the runs to workers, and result files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import DescriptionError, MissingToolError, Problem
from ..core.progress import Progress
from ..core.recalled import fingerprint
from ..core.version import __version__
from ..description import Description
from ..description.contents import contents
from ..fmu.compilers.kept import kept_objects
from ..language.suggest import alternatives, several
from ..options.many import SweepOptions
from .checks import wrong_numbers
from .gathered import GatheredComplaints
from .objectives import Objective, objectives
from .parts import Parts, held, settle
from .points import SweepPoints, points
from .pools import WorkerCrash, Workers, by_processes, has_dask, here, processes, results
from .results import Sweep, check_tools, forget_earlier, write_signals, write_table
from .runs import FIGURES, Job, ResultChunk, RunRequest, forget, receive, work
from .structures import Structure, build, setup, structures
from .variations import Variation, variations

# The runs in each task of a worker take about this total computing time, s.
_CHUNK = 1.0
_MOST_IN_CHUNK = 1000


def sweep(chain: Description, source: str, order: SweepOptions, out: Path) -> Sweep:
    """Execute all runs of a sweep whose results do not exist in the folder.

    A failed run has a row in the result table, with the reason of the failure.

    Raises
    ------
    DescriptionError
        If keys, values, objectives or signals are invalid; no run is executed.
    MissingToolError
        If no compiler is found, or a package for writing the results is missing.
    """
    check_tools()
    progress = order.progress
    given = GatheredComplaints("sweep")
    varied = given(variations, order.settings)
    asked = given(asked_of, order)
    where = given(points, varied, order.samples, order.sampler, order.seed)
    given(_check_names, order, asked)
    given(check_scheduler, order.scheduler)
    given(check_workers, order.scheduler, order.workers)
    given.all_well()
    found = known_structures(chain, source, varied, (asked, several(order.signals or ())), progress)
    kept = tuple(_kept(order, asked, found[0].constants))
    check_signals(source, found, asked, kept)
    with held(out):
        settle(out, _plan(chain, order, where, asked, kept))
        parts = Parts(out, len(where))
        if parts.done < len(where):
            job = job_of(found, out, asked, kept, progress)
            _run(workers_of(order.scheduler, job, order.workers), job, where, found, parts, progress)
        progress("writing the results", 0.0)
        write_table(out, where, parts, [objective.name for objective in asked])
        grid = max((structure.run.grid() for structure in found), key=len)
        write_signals(out, where, parts, grid, kept, found[0].outputs)
        forget_earlier(out)
    return _summary(out, where, parts, asked, chain)


def asked_of(order: SweepOptions) -> tuple[Objective, ...]:
    """Return the objectives that the options of a sweep contain, with their goals.

    Raises DescriptionError for invalid objectives.
    """
    return objectives(several(order.objectives), several(order.maximize), several(order.minimize))


def _check_names(order: SweepOptions, asked: Sequence[Objective]) -> None:
    if not asked and not order.signals:
        text = "the sweep has no result; specify an objective, as in --objective top=peak(E_z), or a signal"
        raise DescriptionError("sweep", [Problem("--objective", text)])
    taken = [o.name for o in asked if o.name in ("run", "failed", *FIGURES)]
    if taken:
        text = "is the name of another column of the table; rename the objective"
        raise DescriptionError("sweep", [Problem(f"--objective {name}", text) for name in taken])


def _kept(order: SweepOptions, asked: Sequence[Objective], constants: Sequence[str]) -> Iterator[str]:
    """Yield the names of the signals to record.

    Parameters are not recorded, because the result table contains their values.
    """
    if order.signals is not None:
        yield from dict.fromkeys(several(order.signals))
    else:
        names = dict.fromkeys(name for objective in asked for name in objective.signals)
        yield from (name for name in names if name not in constants)


def known_structures(
    chain: Description,
    source: str,
    varied: Sequence[Variation],
    wanted: tuple[Sequence[Objective], Sequence[str]],
    progress: Progress,
) -> tuple[Structure, ...]:
    """Return the equations of each FMU that a sweep requires, without compiling the FMUs.

    Raises
    ------
    DescriptionError
        If keys are invalid. The error also lists requested signals that do not exist.
    """
    try:
        return structures(chain, source, varied, progress)
    except DescriptionError as error:
        found, problems = structures(chain, source, (), progress), list(error.problems)
        try:
            check_signals(source, found, *wanted)
        except DescriptionError as other:
            problems += [problem for problem in other.problems if "'set_" not in problem.message]
        raise DescriptionError(source, problems) from None


def check_signals(
    source: str, found: Sequence[Structure], asked: Sequence[Objective], kept: Sequence[str]
) -> None:
    """Check that all FMUs of a sweep have the requested signals and equal output times.

    Raises
    ------
    DescriptionError
        If a signal is missing, an objective is invalid, or output times differ.
    """
    problems = []
    wanted = [(f"--objective {objective.name}", name) for objective in asked for name in objective.signals]
    wanted += [(f"--signal {name}", name) for name in kept if name not in {known for _, known in wanted}]
    for structure in found:
        constants = structure.constants
        known = [*structure.outputs, *constants]
        told = "".join(f", with {key} = {value}" for key, value in structure.values.items())
        for where, name in wanted:
            names = list(structure.outputs) if where.startswith("--signal") else known
            if name not in names:
                what = "output" if where.startswith("--signal") else "output or parameter"
                problems.append(Problem(where, f"there is no {what} {name!r}{told}; {alternatives(name, names)}"))
        for objective in asked:
            wrong = objective.problem(constants) if all(name in known for name in objective.signals) else ""
            option = f"--objective {objective.name}"
            problems += [Problem(option, wrong)] if wrong else []
    if len({(s.run.stop, s.run.output_step) for s in found}) > 1:
        text = "output times differ between runs; do not vary simulation.stop and simulation.output_step"
        problems.append(Problem("--set", text))
    if problems:
        raise DescriptionError(source, list(dict.fromkeys(problems)))


def _plan(
    chain: Description, order: SweepOptions, where: SweepPoints, asked: Sequence[Objective], kept: Sequence[str]
) -> dict[str, Any]:
    """Return the settings that identify a sweep.

    An interrupted sweep can be continued only with the same settings.
    """
    samples = {"samples": order.samples, "sampler": order.sampler, "seed": order.seed} if order.samples else {}
    return {
        "gpmelica": __version__,
        "description": fingerprint(contents(chain)),
        "keys": [*(axis.data() for axis in where.axes), *(drawn.data() for drawn in where.distributions)],
        "objectives": {objective.name: objective.text for objective in asked},
        "signals": list(kept),
        **samples,
    }


def job_of(
    found: Sequence[Structure], out: Path, asked: Sequence[Objective], kept: tuple[str, ...], progress: Progress
) -> Job:
    """Compile the FMUs that do not exist in the folder, and return the data for the workers."""
    setups = []
    with kept_objects():
        for number, structure in enumerate(found):
            progress("compiling", number / len(found))
            setups.append(setup(structure, build(structure, out / "fmu")))
    progress("compiling", 1.0)
    key = hashlib.sha256(repr((setups, asked, kept)).encode()).hexdigest()[:16]
    return Job(key, tuple(setups), tuple(asked), kept)


def check_scheduler(name: str) -> None:
    """Check the value of the option `--scheduler`.

    Raises
    ------
    DescriptionError
        If the scheduler is unknown.
    MissingToolError
        If the scheduler requires Dask and Dask is not installed.
    """
    if name not in ("auto", "processes", "dask", "here") and not re.fullmatch(r"\w+://.+", name):
        text = f"expected one of auto, processes, dask, here, or an address such as tcp://host:8786, got {name!r}"
        raise DescriptionError("sweep", [Problem("--scheduler", text)])
    if (name == "dask" or "://" in name) and not has_dask():
        raise MissingToolError(
            f"--scheduler {name} requires Dask: pip install 'gpmelica[sweep]', or use processes"
        )


def check_workers(scheduler: str, count: int | None) -> None:
    """Raise DescriptionError if the number of workers is below 1, or must not be given.

    The number must not be given if the scheduler determines it: with `here`, and with an address of a
    Dask scheduler. None means that no number is given.
    """
    if count is None:
        return
    if count < 1:
        raise DescriptionError("sweep", [Problem("--workers", f"expected at least 1, got {count}")])
    if scheduler == "here" or "://" in scheduler:
        text = f"the scheduler {scheduler} decides the number of workers; omit the option, or use processes"
        raise DescriptionError("sweep", [Problem("--workers", text)])


def workers_of(scheduler: str, job: Job, count: int | None = None) -> Workers:
    """Return a pool with at most `count` workers.

    The caller must have checked the argument `scheduler` by the function `check_scheduler`.
    """
    if scheduler == "here":
        return here(partial(receive, job), forget)
    if by_processes(scheduler):
        return processes(partial(receive, job), count, ahead=True)
    from .cluster import dask

    return dask(job, scheduler if "://" in scheduler else None, count)


@dataclass
class _Pace:
    """Estimator of the number of runs in the next task of a worker.

    The runs of a task take about one second in total. Towards the end of a sweep, tasks are
    smaller.
    """

    workers: int
    mean: float = np.inf  # A run takes this computing time on average, s.
    done: int = 0

    def count(self, left: int) -> int:
        wanted = _CHUNK / self.mean if self.done else 1
        return int(max(1, min(wanted, left / (4 * self.workers), _MOST_IN_CHUNK)))

    def learn(self, seconds: float, runs: int) -> None:
        before = self.mean * self.done if self.done else 0.0
        self.done += runs
        self.mean = (before + seconds) / self.done


def _run(
    workers: Workers, job: Job, where: SweepPoints, found: Sequence[Structure], parts: Parts, progress: Progress
) -> None:
    """Execute the runs of a sweep that have no result yet.

    Each result is written to disk before the function waits for the next one.
    """
    missing, pace = parts.missing(), _Pace(workers.size)
    index = _structure_index(found)

    def tasks() -> Iterator[tuple[str, list[RunRequest]]]:
        begin = 0
        while begin < len(missing):
            end = begin + pace.count(len(missing) - begin)
            yield job.key, [_asked(int(number), where, found, index) for number in missing[begin:end]]
            begin = end

    def tell() -> None:
        progress("runs", parts.done / len(where))

    tell()
    for task, came in _each(workers, tasks()):
        if isinstance(came, WorkerCrash):
            parts.add(_dead(task[1], came, job))
        else:
            parts.add(came)
            pace.learn(float(np.nansum(came.figures[:, len(job.objectives) + 2])) or _CHUNK, len(came.numbers))
        tell()


def _each(
    workers: Workers, tasks: Iterator[tuple[str, list[RunRequest]]]
) -> Iterator[tuple[tuple[str, list[RunRequest]], ResultChunk | WorkerCrash]]:
    """Yield tasks and their results; repeat runs one by one if their worker process has crashed.

    A task can contain several runs. After the repetition, only the run that causes the crash fails.
    """
    for task, came in results(workers, work, tasks):
        key, asked = task
        if isinstance(came, WorkerCrash) and len(asked) > 1:
            yield from results(workers, work, [(key, [one]) for one in asked])
        else:
            yield task, came


def _structure_index(found: Sequence[Structure]) -> dict[str, int]:
    return {_name(structure.values): number for number, structure in enumerate(found)}


def _name(values: Mapping[str, Any]) -> str:
    return repr(sorted(values.items(), key=lambda item: item[0]))


def _asked(number: int, where: SweepPoints, found: Sequence[Structure], index: Mapping[str, int]) -> RunRequest:
    values = where.at(number)
    structural = found[0].values
    structure = index[_name({key: values[key] for key in structural})]
    rest = {key: float(value) for key, value in values.items() if key not in structural}
    return RunRequest(number, structure, rest, wrong_numbers(found[structure], rest))


def _dead(asked: Sequence[RunRequest], died: WorkerCrash, job: Job) -> ResultChunk:
    points = max(len(setup.span.grid()) for setup in job.setups)
    count = len(asked)
    figures = np.full((count, len(job.objectives) + len(FIGURES)), np.nan)
    signals = np.full((count, points, len(job.kept)), np.nan)
    return ResultChunk(np.array([one.number for one in asked]), (died.reason,) * count, figures, signals)


def _summary(out: Path, where: SweepPoints, parts: Parts, asked: Sequence[Objective], chain: Description) -> Sweep:
    failures = beyond = 0
    column, limit = len(asked), chain.simulation.violation
    for part in parts.batches(1024):
        failures += sum(reason != "" for reason in part.reasons)
        start, end = part.figures[:, column], part.figures[:, column + 1]
        beyond += int(np.sum(end > np.maximum(limit, start)))
    names, goals = tuple(o.name for o in asked), {o.name: o.goal for o in asked if o.goal}
    return Sweep(out, where.keys, names, len(where), failures, beyond, goals=goals)
