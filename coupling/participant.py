"""Interface between the simulation master and the parts (subsystems) of a coupled system."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from ..core.errors import GpmelicaError, SolveError
from ..core.trajectory import Array
from .units import PhysicalUnit, by_name


class PartFailed(SolveError):
    """Exception for a part that cannot continue, but can be restored to an earlier state."""


class ClaimFailed(GpmelicaError):
    """Exception for a part that does not have a claimed capability.

    The simulation then starts again without the use of this capability.

    Parameters
    ----------
    part : the part
    claim : field of `Abilities` that is wrong
    why : reason; in the message, the reason follows the name of the part
    """

    def __init__(self, part: Participant, claim: str, why: str) -> None:
        super().__init__(f"{part.name} {why}")
        self.part, self.claim, self.why = part, claim, why

    def correct(self) -> None:
        """Replace the wrong claim of the part by the opposite.

        Raises
        ------
        SolveError : if the claim has been replaced before, so that the part fails even without the
            capability
        """
        if self.claim in self.part.abilities.wrong:
            raise SolveError(str(self)) from None
        self.part.abilities = self.part.abilities.corrected(self.claim, self.why)


@dataclass(frozen=True)
class PortSignal:
    """An input or output of one part of a coupled system.

    Parameters
    ----------
    name : variable name inside the part
    unit : unit as FMUs write it, or an empty string
    start : initial value, in the unit of the signal
    discrete : whether the value changes only at events
    defined : factors and exponents of SI base units if the name `unit` is unknown; else None
    kind : type of the variable: Real, Integer or Boolean
    least : size below which changes of the signal are rounding errors, in the unit of the signal
    nominal : typical magnitude that the FMU declares, in the unit of the signal, or None
    """

    name: str
    unit: str = ""
    start: float = 0.0
    discrete: bool = False
    defined: PhysicalUnit | None = None
    kind: str = "Real"
    least: float = 0.0
    nominal: float | None = None

    @property
    def base(self) -> PhysicalUnit | None:
        """The signal's unit expressed in SI base units; None if the signal has no unit or an unknown one."""
        return self.defined or (by_name(self.unit) if self.unit else None)


@dataclass(frozen=True)
class Abilities:
    """Properties of a part of a coupled system that decide which coupling methods are possible.

    Initially, the fields contain the claims of the part. Tests and failed calls correct the fields.

    Parameters
    ----------
    restores : whether the state can be saved and restored
    takes_courses : whether inputs may vary within a step, as polynomials
    gives_slopes : whether the time derivatives of the outputs are available
    gives_gains : whether the derivatives of the outputs by the inputs are available
    memory : whether outputs depend on past inputs; False for a function of time and present inputs
        only
    period : time between samples, s; None for a part that is not sampled
    step : fixed internal step of the part, s; None if the part controls its own integration error
    returns_early : whether the part can end a step early, at an event
    tolerance : relative tolerance of the part's own integration, or None if it is unknown
    varies : whether communication steps may have different lengths
    wrong : reason for each field with a wrong claim; in messages, the reason follows the name of the part
    """

    restores: bool = True
    takes_courses: bool = True
    gives_slopes: bool = True
    gives_gains: bool = True
    memory: bool = True
    period: float | None = None
    step: float | None = None
    returns_early: bool = True
    tolerance: float | None = None
    varies: bool = True
    wrong: Mapping[str, str] = field(default_factory=dict)

    def corrected(self, claim: str, why: str) -> Abilities:
        """Return the abilities after a test or a call has proved one claim wrong.

        The field with the name `claim` becomes False. If the claim is `memory`, the field becomes True,
        because outputs depend on past inputs.
        """
        changes: dict[str, Any] = {claim: claim == "memory"}
        return replace(self, **changes, wrong={**self.wrong, claim: why})


class Participant(Protocol):
    """A part (subsystem) of a coupled system.

    All times are in s, all values in the units of the signals. After a call in which the part has asked to end the
    simulation, `ended` is true.
    """

    name: str
    inputs: tuple[PortSignal, ...]
    outputs: tuple[PortSignal, ...]
    abilities: Abilities
    ended: bool

    def start(self, t: float, inputs: Array) -> None:
        """Begin the initialisation at time t with the given input values, shape (n_u,)."""

    def try_inputs(self, inputs: Array) -> Array:
        """Return the outputs, shape (n_y,), that other input values would give at the present time.

        This is allowed only during initialisation, before `begin`, and at an event.
        """

    def begin(self) -> None:
        """End the initialisation, so that steps can follow."""

    def outputs_now(self) -> Array:
        """Return the present values of the outputs, shape (n_y,)."""

    def slopes_now(self, input_slopes: Array) -> Array:
        """Return the time derivatives of the outputs for given time derivatives of the inputs.

        Outputs have the shape (n_y,), inputs the shape (n_u,).
        """

    def advance(self, t: float, h: float, courses: Array) -> tuple[float, bool]:
        """Advance the part from time t by the step length h.

        Parameters
        ----------
        t, h : begin and length of the step, s
        courses : coefficients of the cubic polynomials of the inputs over the step, shape (n_u, 4)

        Returns
        -------
        tuple[float, bool] : time reached, s, and whether an event has to be handled at this time

        Raises
        ------
        PartFailed : if the part cannot advance with these inputs by this step length
        """

    def settle(self, inputs: Array) -> None:
        """Handle the event at the present time, with the present values of the inputs, shape (n_u,)."""

    def save(self) -> Any:
        """Return the present internal state, for a later `restore`."""

    def restore(self, state: Any) -> None:
        """Return to a saved state; the saved state remains valid."""

    def free(self, state: Any) -> None:
        """Release the memory of a saved state."""

    def gains(self) -> Array | None:
        """Return ∂ outputs / ∂ inputs at the present time, shape (n_y, n_u), or None if they are unknown."""

    def close(self) -> None:
        """End the simulation of the part and release its resources."""


def slopes_of(part: Participant, input_slopes: Array) -> Array:
    """Return the time derivatives of a part's outputs, shape (n_y,), from those of its inputs, shape (n_u,).

    Raises
    ------
    ClaimFailed : if a derivative is not finite, although all inputs and outputs are
    """
    found = part.slopes_now(input_slopes)
    if not math.isfinite(found.sum()):
        lost = np.flatnonzero(~np.isfinite(found))
        if len(lost) and np.isfinite(input_slopes).all() and np.isfinite(part.outputs_now()).all():
            raise ClaimFailed(part, "gives_slopes", f"returns {found[lost[0]]:g} for {part.outputs[lost[0]].name}")
    return found
