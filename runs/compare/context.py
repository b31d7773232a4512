"""All that a report is about: the model, its runs and how they compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ... import analysis
from ...analysis import EnergyHistory, InitialValueProblem, LinearisedMode
from ...analysis.prepared import Prepared
from ...core.trajectory import Array, Trajectory
from ...mechanism import Mechanism
from ...plausibility import Remark
from ...scene import Scene, film
from .compare import Comparison
from .findings import Finding, agreement


@dataclass(frozen=True)
class RunReport:
    """Results of `run`: the source of `result.json`, of the figures and of `report.html`.

    Parameters:
        model        what ran, its case applied
        problem      its equations with the initial state and the inputs over time
        case         its name, or empty
        reference    the reference solver's run, on the whole horizon
        runs         the others that could be compared, in the order of presentation
        comparisons  one per run, the reference's own first; a run that broke off has one too
        tolerance    admissible relative error (a comparison may have been granted another one)
        consistent   whether the description's constraints can hold, see `findings`
        holds        whether they do in all runs
        compilers    tool → version
        command      the command line that repeats the run
        files        file name, relative to the report → what it holds
        not_unique   joint or closure → parts of its load that are not unique, see `reactions.not_unique`
        plausible    remarks on what is probably not meant; they do not change `ok`
        facts, notes further facts of the model (name → text), and remarks on the verdict
        loaded       the reference's run with loads of all joints, if they are known
        doubts       sentences against the agreement of the runs, beside those by their signals
        unconfirmed  why the oracle has no run to compare with; empty if it has one
    """

    model: Prepared
    problem: InitialValueProblem
    case: str
    reference: Trajectory
    runs: tuple[Trajectory, ...]
    comparisons: tuple[Comparison, ...]
    tolerance: float
    consistent: Finding
    holds: Finding
    compilers: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    not_unique: Mapping[str, Sequence[str]] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    plausible: tuple[Remark, ...] = ()
    loaded: Trajectory | None = None
    doubts: tuple[str, ...] = ()
    unconfirmed: str = ""

    @property
    def mechanism(self) -> Mechanism:
        """Mechanism with plain numbers."""
        return self.model.mechanism

    @property
    def others(self) -> list[Comparison]:
        """Comparisons without the reference's own."""
        return [comparison for comparison in self.comparisons if comparison.name != self.reference.name]

    @property
    def agrees(self) -> Finding:
        """Whether every run agrees with the reference, and over how much of its time."""
        span = float(self.reference.time[-1] - self.reference.time[0])
        found = agreement(self.others, span, self.unconfirmed)
        return Finding(False, "; ".join([found.text.rstrip("."), *self.doubts]) + ".") if self.doubts else found

    @property
    def findings(self) -> dict[str, Finding]:
        """The three things that the verdict says, by their names in `result.json`."""
        return {"consistent": self.consistent, "agrees": self.agrees, "holds": self.holds}

    @property
    def ok(self) -> bool:
        """Whether all three are so."""
        return all(finding.ok for finding in self.findings.values())

    @property
    def remarks(self) -> list[tuple[str, str]]:
        """Remarks for the reader: the run's name, or empty, and the text."""
        return [(c.name, c.note) for c in self.comparisons if c.note] + [("", note) for note in self.notes]

    @property
    def smallest_determinant(self) -> tuple[float, float] | None:
        """Smallest |det C_d| along the reference run and its time, s; None: no constraints."""
        extra = self.reference.extra
        return (extra["min_det"], extra["min_det_time"]) if "min_det" in extra else None

    @cached_property
    def modes(self) -> tuple[LinearisedMode, ...]:
        """Modes of the equations linearised at the start, the stiffest one first."""
        return analysis.modes(self.model.problem)

    @cached_property
    def course(self) -> EnergyHistory:
        """Energies and forces of the reference run."""
        return analysis.course(self.problem, self.reference)

    @cached_property
    def scene(self) -> Scene:
        """All runs in motion, the reference's last."""
        return film(self.problem, [*self.runs, self.reference])

    @cached_property
    def targets(self) -> dict[str, Array]:
        """Point → programmed positions at the reference's times, shape (N, 3), world frame, m."""
        return analysis.programmed_target(self.problem, self.reference)
