"""Dependence of the initial state on parameters: values that are computed again if parameters change."""

from __future__ import annotations

from dataclasses import dataclass

from .start_search import EQUILIBRIUM, STAGES, SearchStage

Numbers = tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class StartDependence:
    """Indices of coordinates and of constraint rows; rows are independent of each other in these coordinates.

    described     q and q̇ of the description, n numbers each, rad or m (per s)
    moving        coordinates that close the loops, and change their velocities to keep them closed
    assembly      rows that they close
    free          coordinates that find their equilibrium; none with `start = "description"`
    settled       of these, such as no loop moves, or on springs: set start parameters of theirs are the start
    equilibrium   rows that tie them together
    velocities    rows that the velocities obey
    is_indifferent whether the start's equilibrium does not resist some motion
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
        """Stages in which the start is found, in order."""
        return tuple(stage for stage in STAGES if (self.free if stage is EQUILIBRIUM else self.constraints(stage)))

    @property
    def is_none(self) -> bool:
        """Whether the start is that of the start values, whatever the parameters are."""
        return not self.stages

    def constraints(self, stage: SearchStage) -> tuple[int, ...]:
        """Constraint equations that a stage fulfils."""
        rows: tuple[int, ...] = getattr(self, stage.name)
        return rows

    def moved(self, stage: SearchStage) -> tuple[int, ...]:
        """Coordinates that a stage changes, or whose velocities."""
        return self.free if stage is EQUILIBRIUM else self.moving
