"""A worker's part of a sweep: runs in instances that are used again, and what is kept of them."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..core.errors import GpmelicaError
from ..core.trajectory import Array
from ..runs.fmpy_runs.repeated import Repeated, Span
from .objectives import Objective

VIOLATION = "violation_position"
FIGURES = ("violation_start", "violation_end", "cpu_s")


@dataclass(frozen=True)
class Setup:
    """Data of one structure for a worker.

    Parameters:
        fmu          the file's content
        parameters   key → parameter of the FMU
        span         what a run goes through
        constants    parameters of the FMU
        constrained  whether there are constraints, which might be violated
        commands     inputs that are followed through filters → the outputs whose start they keep
    """

    fmu: bytes
    parameters: Mapping[str, str]
    span: Span
    constants: frozenset[str]
    constrained: bool
    commands: Mapping[str, str]


@dataclass(frozen=True)
class Job:
    """Data of a sweep for every worker, sent once.

    Parameters:
        key         tells sweeps apart
        setups      one per structure
        objectives  numbers to be had of each run
        kept        signals to be kept of each run
    """

    key: str
    setups: tuple[Setup, ...]
    objectives: tuple[Objective, ...]
    kept: tuple[str, ...]


@dataclass(frozen=True)
class RunRequest:
    """A run.

    Parameters:
        number     of the run
        structure  its index in the job
        values     of the structure's keys
        wrong      why the description does not take them; empty where it does
    """

    number: int
    structure: int
    values: Mapping[str, float]
    wrong: str = ""


@dataclass(frozen=True)
class ResultChunk:
    """Results of several runs.

    Parameters:
        numbers  of the runs, shape (k,)
        reasons  why a run failed; empty where it has not
        figures  objectives and then `FIGURES`, shape (k, objectives + 3); NaN of runs that failed
        signals  kept ones at the output times, shape (k, N, kept); NaN of runs that failed
    """

    numbers: NDArray[np.int64]
    reasons: tuple[str, ...]
    figures: Array
    signals: Array


class FmuPool:
    """Instances of a job's FMUs; use it in a `with` statement."""

    def __init__(self, job: Job) -> None:
        self.job, self._stack = job, ExitStack()
        self._folder = Path(tempfile.mkdtemp(prefix="gpmelica-sweep-"))
        self._tidied = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._made: dict[int, Repeated] = {}

    def __enter__(self) -> FmuPool:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()
        self._tidied()

    def part(self, asked: Sequence[RunRequest]) -> ResultChunk:
        """Do some runs; failures are among the results. Raises GpmelicaError if an FMU cannot be used at all."""
        points = max(len(setup.span.grid()) for setup in self.job.setups)
        figures = np.full((len(asked), len(self.job.objectives) + len(FIGURES)), np.nan)
        signals = np.full((len(asked), points, len(self.job.kept)), np.nan)
        reasons = []
        for k, one in enumerate(asked):
            reason = one.wrong
            try:
                if not reason:
                    figures[k], signals[k] = self.run(one.structure, one.values)
            except GpmelicaError as error:
                reason = str(error)
            reasons.append(reason)
        return ResultChunk(np.array([one.number for one in asked]), tuple(reasons), figures, signals)

    def run(self, structure: int, values: Mapping[str, float]) -> tuple[Array, Array]:
        """Figures and kept signals of one run, see `ResultChunk`; raises GpmelicaError with why there are none."""
        begin, setup, repeated = time.thread_time(), self.job.setups[structure], self._repeated(structure)
        recorded = repeated.run({setup.parameters[key]: value for key, value in values.items()})
        columns = zip(repeated.names, recorded.T, strict=True)
        signals = {name: column[0] if name in setup.constants else column for name, column in columns}
        found = [objective.of(repeated.grid, signals) for objective in self.job.objectives]
        for objective, value in zip(self.job.objectives, found, strict=True):
            if np.isnan(value):
                raise GpmelicaError(f"objective {objective.name} = {objective.text} has no value")
        violation = signals.get(VIOLATION, np.zeros(2))
        kept = [signals[name] for name in self.job.kept]
        cpu = time.thread_time() - begin
        figures = np.array([*found, violation[0], violation[-1], cpu])
        return figures, np.column_stack(kept) if kept else np.empty((len(repeated.grid), 0))

    def _repeated(self, structure: int) -> Repeated:
        if structure not in self._made:
            setup = self.job.setups[structure]
            fmu = self._folder / f"{structure}.fmu"
            fmu.write_bytes(setup.fmu)
            names = [name for objective in self.job.objectives for name in objective.signals]
            names += [*self.job.kept, *([VIOLATION] if setup.constrained else [])]
            made = Repeated(fmu, list(dict.fromkeys(names)), setup.span, setup.commands)
            self._made[structure] = self._stack.enter_context(made)
        return self._made[structure]


# of this process: the sweep that it works for, and each thread's instances
_JOBS: dict[str, Job] = {}
_OWN = threading.local()


def receive(job: Job) -> None:
    """Get ready for a job; the ones before are forgotten."""
    _JOBS.clear()
    _JOBS[job.key] = job


def work(task: tuple[str, Sequence[RunRequest]]) -> ResultChunk:
    """Some runs of the job of this key."""
    key, asked = task
    bench: FmuPool | None = getattr(_OWN, "bench", None)
    if bench is None or bench.job.key != key:
        forget()
        bench = _OWN.bench = FmuPool(_JOBS[key])
    return bench.part(asked)


def forget() -> None:
    """Free the instances of this thread."""
    bench: FmuPool | None = getattr(_OWN, "bench", None)
    if bench is not None:
        bench.__exit__()
        _OWN.bench = None
