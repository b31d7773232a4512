"""Equal communication steps for FMUs that do not support steps of different lengths."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..core.errors import DescriptionError
from .master import Record, Settings
from .network import Network
from .system import CouplingRemark

# To divide all sample periods, a step may be at most this many times shorter than the requested step.
_MOST = 100


def equal_steps(network: Network, settings: Settings) -> Settings:
    """Return settings with a fixed communication step if an FMU supports only equal steps.

    The step divides the duration of the run and all sample periods. The step is at most as long as
    the fixed step or the nominal step of the given settings. If no FMU needs equal steps, the
    settings are unchanged.

    Raises
    ------
    DescriptionError : if there is no such step
    """
    names = network.needs_equal_steps
    if not names:
        return settings
    span = settings.stop - settings.start
    periods = [p.abilities.period for p in network.parts if p.abilities.period is not None]
    times = [*periods, settings.start] if periods else []
    least = math.ceil(span / (settings.step or settings.nominal) - 1e-9)
    step = next((span / n for n in range(least, _MOST * least) if _divides(span / n, times)), None)
    if step is None:
        text = (
            f"{', '.join(names)} supports only communication steps of equal length, and no step divides the"
            f" duration of {span:g} s and the sample periods; expected a duration that is a multiple of each"
            " period, give --stop"
        )
        raise DescriptionError("step", text)
    return replace(settings, step=step, nominal=step)


def _divides(step: float, times: Sequence[float]) -> bool:
    return all(abs(time / step - round(time / step)) < 1e-9 * max(1.0, time / step) for time in times)


def equal_steps_remark(network: Network, run: Record, asked: float | None) -> Iterator[CouplingRemark]:
    """Yield a remark with the step of the run and the names of the FMUs that support only equal steps.

    Parameters
    ----------
    network : FMUs and their connections
    run : results of the run
    asked : fixed step that the user has chosen, s; None if the tolerance controls the step
    """
    names = ", ".join(network.needs_equal_steps)
    if not names:
        return
    step = run.times[1] - run.times[0]
    why = "chosen by the tolerance" if asked is None else f"for the {asked:g} s asked for"
    text = (
        f"{names} cannot handle communication steps of different lengths, so all steps have the length"
        f" {step:.6g} s, {why}; no step is repeated with a shorter length, and events inside a step take"
        " effect at its end"
    )
    yield CouplingRemark("equal_steps", names, text)
