"""Results of one verification run, from which reports are generated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ... import analysis
from ...analysis import EnergyHistory, InitialValueProblem, LinearisedMode
from ...analysis.system import System
from ...core.html_table import html_lines, html_table
from ...core.trajectory import Array, Trajectory
from ...mechanism import Mechanism
from ...plausibility import Remark
from ...scene import Scene, film
from .compare import Comparison
from .findings import Finding, agreement


@dataclass(frozen=True)
class RunReport:
    """Results of `Model.run`: verdict, comparisons and simulations.

    Parameters
    ----------
    model
        Equations of the model, with the case applied.
    problem
        Equations with initial state and inputs over time.
    case
        Name of the case; empty if the description has no case or none was chosen.
    reference
        Run of the reference solver over the full time span.
    runs
        Runs of the other solvers, in the order of presentation.
    comparisons
        Comparison of each run with the reference run. The reference run itself and runs that ended
        early are included.
    tolerance
        Admissible relative error. A comparison may have its own, larger tolerance.
    consistent
        Whether the constraints of the description can be fulfilled.
    holds
        Whether all runs fulfil the constraints.
    compilers
        Version of each tool.
    command
        Command line that repeats the run.
    files
        Contents of each written file, by file name relative to the report.
    not_unique
        Components of joint reactions that are not unique, by joint or loop closure.
    facts
        Further facts about the model, by title.
    notes
        Notes on the verdict.
    plausible
        Remarks on unusual values. These remarks do not affect `ok`.
    loaded
        Run of the reference solver with all joint reactions, or None.
    doubts
        Further reasons why the runs do not agree, such as an event that occurs in only one solver.
        Deviations of signals are not included.
    unconfirmed
        Reason why the oracle (second independent solver) has no run; empty if it has one.
    """

    model: System
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

    def __repr__(self) -> str:
        case, verdict = self.case and f" {self.case}", "positive" if self.ok else "negative"
        return f"<RunReport {self.mechanism.name}{case}: {verdict} verdict, {len(self.runs) + 1} runs>"

    def _repr_html_(self) -> str:
        told = [f"{name}: {finding.text}" for name, finding in self.findings.items()]
        rows = [
            (c.name, c.max_rel_error, c.tolerance, c.worst_signal, "agrees" if c.ok else "disagrees")
            for c in self.comparisons
        ]
        title = f"{self.mechanism.name}: {'positive' if self.ok else 'negative'} verdict"
        header = ("run", "largest relative error", "tolerance", "signal with this error", "verdict")
        return html_lines(title, *told, *(f"look at {r.text}" for r in self.plausible)) + html_table(header, rows)

    @property
    def mechanism(self) -> Mechanism:
        """Mechanism with numerical values of all parameters."""
        return self.model.mechanism

    @property
    def others(self) -> list[Comparison]:
        """Comparisons of all other runs with the reference run."""
        return [comparison for comparison in self.comparisons if comparison.name != self.reference.name]

    @property
    def agrees(self) -> Finding:
        """Result of the check that all runs agree with the reference run.

        A run that ended early is compared only over the time span that it reached.
        """
        span = float(self.reference.time[-1] - self.reference.time[0])
        found = agreement(self.others, span, self.unconfirmed)
        return Finding(False, "; ".join([found.text.rstrip("."), *self.doubts]) + ".") if self.doubts else found

    @property
    def findings(self) -> dict[str, Finding]:
        """Results of the checks that form the verdict, by name: `consistent`, `agrees` and `holds`."""
        return {"consistent": self.consistent, "agrees": self.agrees, "holds": self.holds}

    @property
    def ok(self) -> bool:
        """Whether the verdict is positive.

        A positive verdict requires consistent constraints, agreeing runs and fulfilled constraints.
        """
        return all(finding.ok for finding in self.findings.values())

    @property
    def reused(self) -> dict[str, str]:
        """Date and time of each run that was computed by an earlier command, by name of the run.

        The mapping is empty if this command computed all runs.
        """
        return {run.name: run.reused for run in (self.reference, *self.runs) if run.reused}

    @property
    def remarks(self) -> list[tuple[str, str]]:
        """Pairs of a run's name and a remark on this run.

        The name is empty if a remark concerns all runs.
        """
        return [(c.name, c.note) for c in self.comparisons if c.note] + [("", note) for note in self.notes]

    @property
    def smallest_determinant(self) -> tuple[float, float] | None:
        """Smallest |det C_d| along the reference run and its time, s.

        The result is None if the mechanism has no constraints.
        C_d contains the columns of the constraint Jacobian that belong to the dependent coordinates.
        """
        extra = self.reference.extra
        return (extra["min_det"], extra["min_det_time"]) if "min_det" in extra else None

    @cached_property
    def modes(self) -> tuple[LinearisedMode, ...]:
        """Modes of the equations linearised about the initial state, in descending order of |eigenvalue|."""
        return analysis.modes(self.model.problem)

    @cached_property
    def course(self) -> EnergyHistory:
        """Energies, forces and powers of the reference run as functions of time."""
        return analysis.course(self.problem, self.reference)

    @cached_property
    def scene(self) -> Scene:
        """Animation of all runs, with the reference run as the last of them."""
        return film(self.problem, [*self.runs, self.reference])

    @cached_property
    def targets(self) -> dict[str, Array]:
        """Programmed position of each point at the output times of the reference run, shape (N, 3), m."""
        return analysis.programmed_target(self.problem, self.reference)
