"""All that a report is about: the model, its runs and how they compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ...generator.mechanism import Mechanism
from ...reference import Mode
from ...trajectory import Array, Trajectory
from .compare import Comparison


@dataclass(frozen=True)
class RunReport:
    """What `run` found out; the source of `result.json`, of the figures and of `report.html`.

    Parameters:
        mechanism             of plain numbers, the case applied
        case                  its name, or empty
        reference             the reference solver's run, on the whole horizon
        runs                  the others that could be compared, in the order of presentation
        comparisons           one per run, the reference's own first; a run that broke off has one too
        units                 signal → unit
        tolerance             admissible relative error (a comparison may have been granted another one)
        constraints           names of the constraint rows, in order
        dependent             names of the dependent coordinates (`boom.angle`), one per independent row
        dof                   degrees of freedom
        smallest_determinant  smallest |det C_d| along the reference run and its time, s; None: no constraints
        poses                 q, shape (n,), rad or m → world frames of all bodies, shape (bodies, 4, 4), m
        friction              run → coordinate's symbol → friction effort against its motion, shape (N,), N·m or N
        modes                 of the equations linearised at the start, the stiffest one first
        targets               point → programmed positions at the reference's times, shape (N, 3), world frame, m
        compilers             tool → version
        command               the command line that repeats the run
        files                 file name, relative to the report → what it holds
        doubts                joint or closure → parts of its load that are not unique, see `reactions.doubts`
        facts, notes          further facts of the model (name → text), and remarks on the verdict
    """

    mechanism: Mechanism
    case: str
    reference: Trajectory
    runs: tuple[Trajectory, ...]
    comparisons: tuple[Comparison, ...]
    units: Mapping[str, str]
    tolerance: float
    constraints: tuple[str, ...]
    dependent: tuple[str, ...]
    dof: int
    smallest_determinant: tuple[float, float] | None
    poses: Callable[[Array], Array]
    friction: Callable[[Trajectory], Mapping[str, Array]] = lambda run: {}
    modes: tuple[Mode, ...] = ()
    targets: Mapping[str, Array] = field(default_factory=dict)
    compilers: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    doubts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every run agrees with the reference."""
        return all(comparison.ok for comparison in self.comparisons)
