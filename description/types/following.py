"""Parts of the initial state that are computed again if parameters change."""

from __future__ import annotations

from dataclasses import dataclass

from .start_search import EQUILIBRIUM, STAGES, SearchStage

Numbers = tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class StartDependence:
    """Indices of coordinates and constraint equations that determine the initial state.

    The indices are needed to compute the initial state again if parameters change. The constraint
    equations of each stage are linearly independent in the coordinates of that stage.

    Parameters
    ----------
    described
        Coordinates and rates of the description, n numbers each, rad or m (per s).
    moving
        Coordinates that close the loops, and whose velocities keep the loops closed.
    assembly
        Constraint equations that close the loops.
    free
        Coordinates that move to equilibrium; empty with `start = "description"`.
    settled
        Free coordinates that have springs, or that do not belong to a loop. If start parameters of
        these coordinates are set, the search begins at these values.
    equilibrium
        Constraint equations between the free coordinates.
    velocities
        Constraint equations of the velocities.
    is_indifferent
        Whether some motion is unresisted in the initial equilibrium.
    """

    described: tuple[Numbers, Numbers]
    moving: tuple[int, ...]
    assembly: tuple[int, ...]
    free: tuple[int, ...]
    settled: tuple[int, ...]
    equilibrium: tuple[int, ...]
    velocities: tuple[int, ...]
    is_indifferent: bool

    @property
    def stages(self) -> tuple[SearchStage, ...]:
        """Stages of the search for the initial state, in order."""
        return tuple(stage for stage in STAGES if (self.free if stage is EQUILIBRIUM else self.constraints(stage)))

    @property
    def is_none(self) -> bool:
        """Whether the initial state equals the start values for all parameter values."""
        return not self.stages

    def constraints(self, stage: SearchStage) -> tuple[int, ...]:
        """Return the indices of the constraint equations that a stage of the initial-state search
        fulfils.
        """
        rows: tuple[int, ...] = getattr(self, stage.name)
        return rows

    def moved(self, stage: SearchStage) -> tuple[int, ...]:
        """Return the indices of the coordinates whose positions or velocities a stage changes."""
        return self.free if stage is EQUILIBRIUM else self.moving
