"""Results of one verification run, from which reports are generated."""

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
    """Results of the command `run`, from which `result.json`, figures and `report.html` are generated.

    Parameters
    ----------
    model : Prepared
        Mechanism with its equations, with the case applied.
    problem : InitialValueProblem
        Numerical equations with initial state and inputs over time.
    case : str
        Name of the case; empty without one.
    reference : Trajectory
        Run of the reference solver over the full time.
    runs : tuple of Trajectory
        Other comparable runs, in the order of presentation.
    comparisons : tuple of Comparison
        One comparison per run, including failed runs; the reference's own comes first.
    tolerance : float
        Admissible relative error; a comparison may have a larger one of its own.
    consistent : Finding
        Whether the description's constraints can be fulfilled; see `findings`.
    holds : Finding
        Whether all runs fulfil the constraints.
    compilers : mapping
        Version of each tool.
    command : str
        Command line that repeats the run.
    files : mapping
        Contents of each file, by name relative to the report.
    not_unique : mapping
        Reaction components that are not unique, by joint or closure; see `reactions.not_unique`.
    facts : mapping
        Further facts about the model, by name.
    notes : tuple of str
        Notes on the verdict.
    plausible : tuple of Remark
        Remarks on probably unintended values; they do not change `ok`.
    loaded : Trajectory or None
        Reference run with the reactions of all joints, if computed.
    doubts : tuple of str
        Sentences that contradict the agreement of the runs for other reasons than differing signals.
    unconfirmed : str
        Reason why the oracle has no run to compare with; empty if it has one.
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
        """Mechanism with numerical parameters."""
        return self.model.mechanism

    @property
    def others(self) -> list[Comparison]:
        """Comparisons without the reference's own."""
        return [comparison for comparison in self.comparisons if comparison.name != self.reference.name]

    @property
    def agrees(self) -> Finding:
        """Finding whether every run agrees with the reference, and over which time span."""
        span = float(self.reference.time[-1] - self.reference.time[0])
        found = agreement(self.others, span, self.unconfirmed)
        return Finding(False, "; ".join([found.text.rstrip("."), *self.doubts]) + ".") if self.doubts else found

    @property
    def findings(self) -> dict[str, Finding]:
        """The three findings of the verdict, by their names in `result.json`."""
        return {"consistent": self.consistent, "agrees": self.agrees, "holds": self.holds}

    @property
    def ok(self) -> bool:
        """Whether all three findings are positive."""
        return all(finding.ok for finding in self.findings.values())

    @property
    def remarks(self) -> list[tuple[str, str]]:
        """Notes for the reader, each with the name of its run; the name is empty for general notes."""
        return [(c.name, c.note) for c in self.comparisons if c.note] + [("", note) for note in self.notes]

    @property
    def smallest_determinant(self) -> tuple[float, float] | None:
        """Smallest |det C_d| along the reference run and its time, s; None without constraints."""
        extra = self.reference.extra
        return (extra["min_det"], extra["min_det_time"]) if "min_det" in extra else None

    @cached_property
    def modes(self) -> tuple[LinearisedMode, ...]:
        """Modes of the equations linearised at the initial state, sorted by decreasing |λ|."""
        return analysis.modes(self.model.problem)

    @cached_property
    def course(self) -> EnergyHistory:
        """Energies and forces along the reference run."""
        return analysis.course(self.problem, self.reference)

    @cached_property
    def scene(self) -> Scene:
        """Animation of all runs, the reference run last."""
        return film(self.problem, [*self.runs, self.reference])

    @cached_property
    def targets(self) -> dict[str, Array]:
        """Programmed positions of points at the reference's times, shape (N, 3), m, world axes, by
        point.
        """
        return analysis.programmed_target(self.problem, self.reference)
