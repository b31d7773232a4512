"""The parts of a coupled system as the master sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from ..core.trajectory import Array
from .units import PhysicalUnit, by_name


@dataclass(frozen=True)
class PortSignal:
    """An input or output of a part.

    Parameters
    ----------
    name : variable name inside the part
    unit : unit as FMUs write it, or an empty string
    start : value at the start, in the unit
    discrete : whether the value changes at events only
    defined : the unit in base units, if it is not one that `unit` names in SI
    kind : type of the variable: Real, Integer or Boolean
    """

    name: str
    unit: str = ""
    start: float = 0.0
    discrete: bool = False
    defined: PhysicalUnit | None = None
    kind: str = "Real"

    @property
    def base(self) -> PhysicalUnit | None:
        """The unit in base units; None if there is none or it is unknown."""
        return self.defined or (by_name(self.unit) if self.unit else None)


@dataclass(frozen=True)
class Abilities:
    """Properties of a part that decide which coupling method is possible.

    Parameters
    ----------
    restores : the state can be saved and restored
    takes_courses : inputs may change within a step, by polynomials
    gives_slopes : the time derivatives of the outputs are available
    memory : outputs depend on past inputs; False for a law that depends on time and present inputs
    period : time between samples, s; None for a part that is not sampled
    step : the part's own fixed step, s; None if it controls its error
    """

    restores: bool = True
    takes_courses: bool = True
    gives_slopes: bool = True
    memory: bool = True
    period: float | None = None
    step: float | None = None


class Participant(Protocol):
    """A part of a coupled system. All times are in s, all values in the units of the signals."""

    name: str
    inputs: tuple[PortSignal, ...]
    outputs: tuple[PortSignal, ...]
    abilities: Abilities

    def start(self, t: float, inputs: Array) -> None:
        """Begin to initialise at time t with the values of the inputs, shape (n_u,)."""

    def try_inputs(self, inputs: Array) -> Array:
        """Return outputs, shape (n_y,), for other inputs at the same time: before `begin` or at an event."""

    def begin(self) -> None:
        """End the initialisation."""

    def outputs_now(self) -> Array:
        """Values of the outputs, shape (n_y,)."""

    def slopes_now(self, input_slopes: Array) -> Array:
        """Return time derivatives of the outputs, shape (n_y,), for those of the inputs, shape (n_u,)."""

    def advance(self, t: float, h: float, courses: Array) -> tuple[float, bool]:
        """Advance by h with input courses, shape (n_u, 4); return the time reached and if an event is due."""

    def settle(self, inputs: Array) -> None:
        """Handle the event at the present time, with the values of the inputs there."""

    def save(self) -> Any:
        """Return the present state."""

    def restore(self, state: Any) -> None:
        """Return to a saved state, which stays valid."""

    def free(self, state: Any) -> None:
        """Forget a saved state."""

    def gains(self) -> Array | None:
        """Return ∂ outputs / ∂ inputs at the present time, shape (n_y, n_u), or None if they are unknown."""

    def close(self) -> None:
        """End the part."""
