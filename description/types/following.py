"""Data from which the initial state is computed again when parameter values change."""

from __future__ import annotations

from dataclasses import dataclass

from .start_search import EQUILIBRIUM, STAGES, SearchStage

Numbers = tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class StartDependence:
    """Indices of coordinates and constraint equations that determine the initial state.

    If parameters change, these indices are used to compute the initial state again. The search has
    three stages: assembly (closing the loops), equilibrium, and velocities. The constraint equations
    listed for a stage are linearly independent in the coordinates that the stage changes.

    Parameters
    ----------
    described
        Initial values in the description: n coordinates (rad or m), and n rates (rad/s or m/s).
    moving
        Coordinates that the stages `assembly` and `velocities` change.
    assembly
        Constraint equations that the stage `assembly` fulfils.
    free
        Coordinates that the stage `equilibrium` changes; empty with `start = "description"`.
    settled
        Coordinates in `free` that have springs, or that do not belong to a loop. The search begins at
        the values of the FMU parameters `<coordinate>_start` of these coordinates.
    equilibrium
        Constraint equations that the stage `equilibrium` fulfils.
    velocities
        Constraint equations that the stage `velocities` fulfils.
    is_indifferent
        Whether the equilibrium is indifferent, that is, a small motion exists that no force resists.
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
        """Stages that the search for the initial state needs, in order."""
        return tuple(stage for stage in STAGES if (self.free if stage is EQUILIBRIUM else self.constraints(stage)))

    @property
    def is_none(self) -> bool:
        """Whether the initial values in the description are the initial state, so no search is necessary."""
        return not self.stages

    def constraints(self, stage: SearchStage) -> tuple[int, ...]:
        """Return the indices of the constraint equations that a stage of the initial-state search fulfils."""
        rows: tuple[int, ...] = getattr(self, stage.name)
        return rows

    def moved(self, stage: SearchStage) -> tuple[int, ...]:
        """Return the indices of the coordinates that a stage of the initial-state search changes.

        The stage changes either the positions or the velocities of these coordinates.
        """
        return self.free if stage is EQUILIBRIUM else self.moving
