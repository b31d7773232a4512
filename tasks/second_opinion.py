"""Oracle (an independent second solver) in a separate process: inputs, process and results."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .. import analysis
from ..analysis.system import System
from ..core.errors import SolveError
from ..core.progress import Progress, silent
from ..core.recalled import Slot
from ..core.trajectory import Event, Trajectory
from ..core.workers import alone, beside
from ..description.plain import plain
from ..oracle import process
from ..oracle.equations.claims import Claims
from ..runs.attempts import SOLVER_MARGIN, Attempt
from ..runs.compare.findings import Finding
from ..runs.compare.sensitivity import FINER
from ..runs.fmpy_runs.inputs import InputTable

NAME = "oracle"
LIMIT = 600.0  # Time limit for the process of the oracle, the independent Python solver, s.
# Smallest tolerance for comparisons with the oracle, because SciPy's integrators limit the oracle's accuracy.
TOLERANCE = 1e-5
_UNCONFIRMED = "the oracle, which shares nothing with the reference, has no run to compare with"
# Both solvers detect these kinds of events at any time, and other kinds only while their element exerts a force.
_ALWAYS = frozenset({"touches", "is clear", "lifts", "is met", "is left", "is taut", "is slack"})
_SAME = 1e-4  # Two event times count as equal if they differ by less than this fraction of the run.
_BRIEF = 1e-3  # If an event is reversed within this fraction of the run, one solver may miss it.


@dataclass(frozen=True)
class Opinion:
    """Results of the oracle: objections to the initial state, and a run.

    Attributes
    ----------
    start : tuple of str
        Objections, one sentence each. They concern the initial state, or the rank and the coordinate
        partition at this state.
    attempts : tuple of Attempt
        Run of the oracle for the comparison with the reference solver; empty if the oracle has no run.
    absent : str
        Reason why the oracle has no run; empty if the run exists.
    """

    start: tuple[str, ...]
    attempts: tuple[Attempt, ...]
    absent: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """Note that says why the oracle has no run; empty if the oracle has a run."""
        return (f"{_UNCONFIRMED}: {self.absent}",) if self.absent else ()

    def of_start(self, finding: Finding) -> Finding:
        """Add the oracle's objections to the finding on the consistency of the initial state.

        With objections, the finding is negative. Without objections, the finding is returned unchanged.
        """
        if not self.start:
            return finding
        texts = [*([] if finding.ok else [finding.text]), *self.start]
        return Finding(False, "; ".join(texts))

    def of_events(self, run: Trajectory, until: float) -> tuple[str, ...]:
        """Return a sentence for each event that occurs in only one of two runs before the time `until`, s.

        The two runs are the oracle's run and the reference run.
        """
        end, found = float(run.time[-1]), list[str]()
        for own in (attempt.trajectory for attempt in self.attempts):
            assert own is not None
            alone_in = ((NAME, own.events, run.events), ("reference", run.events, own.events))
            for whose, events, others in alone_in:
                early = [event for event in events if event.t < until - _SAME * end]
                found += _alone(early, others, end, whose)
        return tuple(found)


@contextmanager
def asked(
    model: System, inputs: InputTable | None, tolerance: float, progress: Progress = silent
) -> Iterator[Callable[[], Opinion]]:
    """Start the oracle in a separate process, and yield a function that waits for the results.

    While the function waits, it reports the oracle's progress.

    Parameters
    ----------
    model : System
        Mechanism with its equations.
    inputs : InputTable or None
        Inputs over time.
    tolerance : float
        Admissible error of the runs, relative to each signal's scale. For the oracle's run, it is at
        least `TOLERANCE`.
    progress : callable
        Callback with the current activity and the completed fraction.
    """
    admissible, job = max(tolerance, TOLERANCE), (*given(model), _tables(inputs))
    slot = Slot("oracle", lambda: job)
    known = slot.read()
    if known is not None:
        attempt = _repeatable(Attempt(NAME, admissible, known), model, inputs)
        yield lambda: Opinion((), (attempt,))
        return
    with TemporaryDirectory(prefix="gpmelica-oracle-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        process.write_given(folder, *job)
        with beside(partial(alone, process.__name__, folder, LIMIT)) as status:

            def opinion() -> Opinion:
                finished = status(lambda: progress(NAME, process.completed(folder)))
                found = _opinion(folder, finished, admissible)
                _keep(slot, found)
                return replace(found, attempts=tuple(_repeatable(run, model, inputs) for run in found.attempts))

            yield opinion


def _keep(slot: Slot, found: Opinion) -> None:
    """Store the oracle's run for later commands, unless the oracle objects to the initial state."""
    for attempt in found.attempts:
        if attempt.trajectory is not None and not found.start:
            slot.keep(attempt.trajectory)


def _repeatable(attempt: Attempt, model: System, inputs: InputTable | None) -> Attempt:
    """Return a copy of the oracle's run that has a function `finer`.

    This function repeats the run with a finer tolerance.
    """

    def finer() -> Attempt:
        tolerance = model.chain.simulation.tolerance * SOLVER_MARGIN * FINER
        job = (*given(model), _tables(inputs), tolerance)
        slot = Slot("oracle", lambda: job)
        known = slot.read()
        if known is not None:
            return replace(attempt, trajectory=known)
        with TemporaryDirectory(prefix="gpmelica-oracle-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            process.write_given(folder, *job)
            again = _opinion(folder, alone(process.__name__, folder, LIMIT), attempt.tolerance)
        _keep(slot, again)
        return next(iter(again.attempts), replace(attempt, trajectory=None))

    return replace(attempt, finer=finer)


def _tables(inputs: InputTable | None) -> dict[str, list[list[float]]]:
    if inputs is None:
        return {}
    return {name: [inputs.time.tolist(), values.tolist()] for name, values in inputs.values.items()}


def given(model: System) -> tuple[dict[str, Any], Claims]:
    """Return the input of the oracle, a second independent solver.

    The first result contains the tables of the description. The second result contains the statements
    about the initial state that the oracle checks.

    Parameters
    ----------
    model : System
        Mechanism with initial state, rank of the constraints, and coordinate partition.
    """
    q, qd = model.start
    coordinates = model.mechanism.coordinates
    start = {c.symbol: float(x) for c, x in zip(coordinates, q, strict=True)}
    start |= {f"{c.symbol}_dot": float(x) for c, x in zip(coordinates, qd, strict=True)}
    found = model.solvability
    claims = Claims(
        start=start,
        rows=tuple(model.rows),
        rank=found.rank,
        kept=tuple(found.independent),
        without_drive=tuple(found.without_drive),
        dependent=tuple(found.dependent),
        held=_held(model),
        unique=_unique(model),
    )
    return plain(model.chain), claims


def _held(model: System) -> tuple[str, ...]:
    """Return the names of the coordinates that remain fixed in the search for the static equilibrium."""
    if model.chain.simulation.start != "statics":
        return ()
    free = analysis.free_coordinates(model.mechanism, model.start[0])
    return tuple(c.name for k, c in enumerate(model.mechanism.coordinates) if k not in free)


def _unique(model: System) -> dict[str, bool]:
    """Return whether the reaction is unique, for each joint, closure and knife edge by name.

    The result is empty if the analysis of reactions fails.
    """
    try:
        found = model.reactions.verdicts
    except SolveError:
        return {}
    return {verdict.name: verdict.unique for verdict in found if verdict.kind != "programmed"}


def _opinion(folder: Path, status: int | None, tolerance: float) -> Opinion:
    """Return the results that the oracle's process wrote.

    Parameters
    ----------
    folder
        Folder of the process.
    status
        Exit status of the process; None if the process reached its time limit.
    tolerance
        Admissible error of the run.
    """
    said, run = folder / process.SAID, folder / process.RUN
    start = tuple(json.loads(said.read_text("utf-8"))) if said.exists() else ()
    if not run.exists():
        is_over = status is None or status == -process.OVER
        why = "did not finish in its time limit" if is_over else f"ended with status {status}"
        return Opinion(start, (), f"its process {why}")
    done: Trajectory | SolveError = pickle.loads(run.read_bytes())
    if isinstance(done, SolveError):
        return Opinion(start, (), str(done))
    return Opinion(start, (Attempt(NAME, tolerance, replace(done, name=NAME)),))


def _alone(events: Sequence[Event], others: Sequence[Event], end: float, whose: str) -> Iterator[str]:
    """Yield a sentence for each event of one run that the other run does not have at the same time.

    Only events of contacts, supports, end stops and ropes are considered.
    """
    for k, event in enumerate(events):
        if event.word not in _ALWAYS:
            continue
        same = (other.t for other in others if (other.label, other.holds) == (event.label, event.holds))
        if any(abs(t - event.t) <= _SAME * end for t in same):
            continue
        near = (other for i, other in enumerate(events) if i != k and other.label == event.label)
        if not any(abs(other.t - event.t) <= _BRIEF * end for other in near):
            yield f"only the {whose} has the event at t = {event.t:.6g} s: {event.label} {event.word}".rstrip()
