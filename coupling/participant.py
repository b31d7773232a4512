"""Interface (typing protocol) between the simulation master and one FMU of a coupled system."""

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
    """Exception for an FMU that cannot continue, but can be restored to an earlier state."""


class ClaimFailed(GpmelicaError):
    """Exception for an FMU that does not have a capability that it declares.

    The simulation then starts again without the use of this capability.

    Parameters
    ----------
    part : the FMU
    claim : field of `Abilities` that is wrong
    why : reason, worded as the continuation of a sentence that begins with the name of the FMU
    """

    def __init__(self, part: Participant, claim: str, why: str) -> None:
        super().__init__(f"{part.name} {why}")
        self.part, self.claim, self.why = part, claim, why

    def correct(self) -> None:
        """Replace the wrong field of the FMU's `Abilities` by the opposite value.

        Raises
        ------
        SolveError : if the field has been replaced before, so that the FMU fails even without the
            capability
        """
        if self.claim in self.part.abilities.wrong:
            raise SolveError(str(self)) from None
        self.part.abilities = self.part.abilities.corrected(self.claim, self.why)


@dataclass(frozen=True)
class PortSignal:
    """An input or output of one FMU of a coupled system.

    Parameters
    ----------
    name : variable name in the FMU
    unit : name of the unit as in the FMU, or an empty string
    start : initial value, in the unit of the signal
    discrete : whether the value changes only at events
    defined : definition of the unit in the FMU, by SI base units; None if the FMU does not define
        it
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
    """Capabilities of an FMU that decide which coupling methods are possible.

    At first, the attributes have the values that the FMU declares. Tests and failed calls correct
    them.

    Parameters
    ----------
    restores : whether the state can be saved and restored
    takes_courses : whether inputs may vary within a step, as polynomials of time
    gives_slopes : whether the FMU provides the time derivatives of its outputs
    gives_gains : whether the FMU provides the derivatives of its outputs with respect to its inputs
    memory : whether outputs depend on past inputs; False if they depend only on time and present
        inputs
    period : sample period, s; None for an FMU that is not sampled
    step : fixed internal step, s; None if the FMU controls the step by its integration error
    returns_early : whether the FMU can end a step early, at an event
    tolerance : relative tolerance of the solver inside the FMU, or None if it is unknown
    varies : whether communication steps may have different lengths
    wrong : reasons why declared values are wrong, by field name. The text continues a sentence that
        begins with the name of the FMU.
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
        """Return the capabilities after a test or a call has proved that one declared value is wrong.

        The field with the name `claim` becomes False. An exception is the field `memory`: it
        becomes True, because the test has shown that outputs depend on past inputs.
        """
        changes: dict[str, Any] = {claim: claim == "memory"}
        return replace(self, **changes, wrong={**self.wrong, claim: why})


class Participant(Protocol):
    """An FMU (subsystem) in a coupled system; it has n_u inputs and n_y outputs.

    All times are in s, all values in the units of the signals. The attribute `ended` becomes true
    in a call in which the FMU asks to end the simulation.
    """

    name: str
    inputs: tuple[PortSignal, ...]
    outputs: tuple[PortSignal, ...]
    abilities: Abilities
    ended: bool

    def start(self, t: float, inputs: Array) -> None:
        """Begin the initialisation at time t with given values of the n_u inputs, shape (n_u,)."""

    def try_inputs(self, inputs: Array) -> Array:
        """Return the n_y outputs at the present time for other values of the n_u inputs.

        The arrays have the shapes (n_y,) and (n_u,). The call is allowed only at an event, and
        during initialisation before `begin`.
        """

    def begin(self) -> None:
        """End the initialisation, so that communication steps can follow."""

    def outputs_now(self) -> Array:
        """Return the present values of the n_y outputs, shape (n_y,)."""

    def slopes_now(self, input_slopes: Array) -> Array:
        """Return the time derivatives of the outputs for given time derivatives of the inputs.

        The derivatives of n_y outputs have the shape (n_y,), those of n_u inputs the shape (n_u,).
        """

    def advance(self, t: float, h: float, courses: Array) -> tuple[float, bool]:
        """Advance the FMU from time t by the step length h.

        Parameters
        ----------
        t, h : beginning and length of the step, s
        courses : coefficients of the cubic polynomials of the n_u inputs over the step, shape (n_u,
            4)

        Returns
        -------
        tuple[float, bool] : time reached, s, and whether the FMU has an event at this time

        Raises
        ------
        PartFailed : if the FMU cannot advance with these inputs by this step length
        """

    def settle(self, inputs: Array) -> None:
        """Handle the event at the present time, with present values of the n_u inputs, shape (n_u,)."""

    def save(self) -> Any:
        """Return the FMU's present internal state, which `restore` can set again later."""

    def restore(self, state: Any) -> None:
        """Return to a saved state, which can be restored again later."""

    def free(self, state: Any) -> None:
        """Release the memory of a saved state."""

    def gains(self) -> Array | None:
        """Return the present derivatives of the outputs with respect to the inputs, shape (n_y, n_u).

        The result is None if the FMU does not provide these derivatives.
        """

    def close(self) -> None:
        """End the simulation of the FMU and release its resources."""


def slopes_of(part: Participant, input_slopes: Array) -> Array:
    """Return the time derivatives of an FMU's n_y outputs for given time derivatives of its n_u inputs.

    The arrays have the shapes (n_y,) and (n_u,).

    Raises
    ------
    ClaimFailed : if a derivative is infinite or NaN, although all inputs and outputs are finite
    """
    found = part.slopes_now(input_slopes)
    if not math.isfinite(found.sum()):
        lost = np.flatnonzero(~np.isfinite(found))
        if len(lost) and np.isfinite(input_slopes).all() and np.isfinite(part.outputs_now()).all():
            raise ClaimFailed(part, "gives_slopes", f"returns {found[lost[0]]:g} for {part.outputs[lost[0]].name}")
    return found
