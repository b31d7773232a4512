"""Execution of the runs of a sweep in a worker process, with reused FMU instances."""

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
    """Data that workers need about one FMU of a sweep.

    Attributes
    ----------
    fmu : bytes
        Content of the FMU file.
    parameters : mapping
        Name of the FMU parameter that sets a varied key, by name of the key.
    span : Span
        Time span and tolerance of a run.
    constants : frozenset of str
        Names of the FMU's parameters.
    constrained : bool
        Whether the mechanism has constraints; their violation is then recorded.
    commands : mapping
        Names of FMU outputs by name of an FMU input. They exist for inputs whose signal is filtered.
        During a run, such an input is constant: it is equal to the initial value of the output.
    """

    fmu: bytes
    parameters: Mapping[str, str]
    span: Span
    constants: frozenset[str]
    constrained: bool
    commands: Mapping[str, str]


@dataclass(frozen=True)
class Job:
    """Data about a sweep that each worker receives once.

    Attributes
    ----------
    key : str
        Identifier of the sweep.
    setups : tuple of Setup
        FMUs of the sweep.
    objectives : tuple of Objective
        Expressions that are evaluated for each run.
    kept : tuple of str
        Names of the recorded signals.
    """

    key: str
    setups: tuple[Setup, ...]
    objectives: tuple[Objective, ...]
    kept: tuple[str, ...]


@dataclass(frozen=True)
class RunRequest:
    """Request for one run of a sweep.

    Attributes
    ----------
    number : int
        Number of the run.
    structure : int
        Index of the FMU that the run uses, among the FMUs of the sweep.
    values : mapping
        Values of the keys that set FMU parameters.
    wrong : str
        Reason why the values are invalid; "" for valid values.
    """

    number: int
    structure: int
    values: Mapping[str, float]
    wrong: str = ""


@dataclass(frozen=True)
class ResultChunk:
    """Results of k runs of a sweep.

    Attributes
    ----------
    numbers : ndarray, shape (k,)
        Numbers of the runs.
    reasons : tuple of str
        Reason why each run failed; "" for a successful run.
    figures : ndarray, shape (k, objectives + 3)
        Values of the objectives, initial and final constraint violation, and computing time in s;
        NaN for failed runs.
    signals : ndarray, shape (k, N, kept)
        Values of the recorded signals (`kept` of them) at N output times; NaN for failed runs.
    """

    numbers: NDArray[np.int64]
    reasons: tuple[str, ...]
    figures: Array
    signals: Array


class FmuPool:
    """Context manager for the FMU instances of a sweep; many runs use the same instance."""

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
        """Execute runs and return their results, with a reason for each failed run.

        Raises
        ------
        GpmelicaError
            If an FMU cannot be loaded.
        """
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
        """Execute a run, and return its scalar results and its recorded signals as two arrays.

        The scalar results, shape (objectives + 3,), are the objectives, the initial and
        final constraint violation, and the computing time, s. The signals have the shape (N, K) for N output
        times and K recorded signals.

        Raises
        ------
        GpmelicaError
            If the run fails or an objective has no value.
        """
        begin, setup, repeated = time.thread_time(), self.job.setups[structure], self._repeated(structure)
        recorded = repeated.run({setup.parameters[key]: value for key, value in values.items()})
        columns = zip(repeated.names, recorded.T, strict=True)
        signals = {name: column[0] if name in setup.constants else column for name, column in columns}
        found = [objective.of(repeated.grid, signals) for objective in self.job.objectives]
        for objective, value in zip(self.job.objectives, found, strict=True):
            if np.isnan(value):
                raise GpmelicaError(
                    f"objective {objective.name}: the expression {objective.text} has no value (NaN) in this run"
                )
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


# _JOBS contains the data of the current sweep by identifier; _OWN contains the FMU instances of each thread.
_JOBS: dict[str, Job] = {}
_OWN = threading.local()


def receive(job: Job) -> None:
    """Store the data of a sweep in this process, and remove the data of earlier sweeps."""
    _JOBS.clear()
    _JOBS[job.key] = job


def work(task: tuple[str, Sequence[RunRequest]]) -> ResultChunk:
    """Execute several runs of a sweep.

    The argument `task` contains the identifier of the sweep and a request for each run.
    """
    key, asked = task
    bench: FmuPool | None = getattr(_OWN, "bench", None)
    if bench is None or bench.job.key != key:
        forget()
        bench = _OWN.bench = FmuPool(_JOBS[key])
    return bench.part(asked)


def forget() -> None:
    """Free the FMU instances of this thread."""
    bench: FmuPool | None = getattr(_OWN, "bench", None)
    if bench is not None:
        bench.__exit__()
        _OWN.bench = None
