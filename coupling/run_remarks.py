"""Remarks about a coupled run: energy, an early end, late events, noise, and sample times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .comparison import bounded_ranges
from .energy import EnergyResidual
from .master import Record, Settings
from .network import Network
from .system import CouplingRemark


def energy_remarks(found: Sequence[EnergyResidual], tolerance: float) -> list[CouplingRemark]:
    """Return a remark for each connection whose relative energy residual exceeds ten times the tolerance.

    The residual is the energy that the coupling creates or loses, relative to the transferred
    energy.
    """
    return [
        CouplingRemark(
            "creates_energy",
            r.where,
            f"the coupling at {r.where} {'creates' if r.created > 0.0 else 'loses'} {abs(r.created):.3g} J,"
            f" {abs(r.relative):.2g} of the energy transferred there; reduce the tolerance or the step",
        )
        for r in found
        if abs(r.relative) > max(10.0 * tolerance, 1e-9)
    ]


def end_remarks(name: str, end: float, stop: float) -> Iterator[CouplingRemark]:
    """Yield a remark if an FMU has asked to end the simulation before the final time."""
    if name:
        text = (
            f"{name} asks to end the simulation at t = {end:.9g} s, before the final time of {stop:g} s; the"
            " results end there"
        )
        yield CouplingRemark("ended_early", name, text)


def late_event_remarks(run: Record) -> Iterator[CouplingRemark]:
    """Yield a remark if an FMU has events inside a step that other FMUs notice only at its end."""
    if run.late:
        text = (
            f"{run.late} events lie inside communication steps, and not all FMUs can go back to these times: other"
            " FMUs see the events at the end of the step; shorten --step, or use FMUs that restore their states"
        )
        yield CouplingRemark("event_inside_step", "system", text)


def noise_remarks(network: Network, run: Record) -> Iterator[CouplingRemark]:
    """Yield a remark for each FMU whose outputs have noise; the remark names the noisiest output.

    Noise consists of errors that shorter communication steps do not reduce.
    """
    noise = run.noise[: network.n_y] / np.maximum(bounded_ranges(run, network), 1e-300)
    for part, rows in zip(network.parts, network.rows, strict=True):
        if noise[rows].any():
            row = rows.start + int(np.argmax(noise[rows]))
            signal, tolerance = network.signals[row], part.abilities.tolerance
            known = "" if tolerance is None else f", {tolerance:g},"
            size = f"{run.noise[row]:.2g}" + (f" {signal.unit}" if signal.unit not in ("", "1") else "")
            text = (
                f"{part.name}.{signal.name} has noise: errors of up to {size} remain"
                f" in steps of any length, which is {noise[row]:.2g} of the range; reduce the tolerance{known} of"
                f" the solver inside {part.name}"
            )
            yield CouplingRemark("noise", part.name, text)


def sample_remarks(network: Network, settings: Settings) -> list[CouplingRemark]:
    """Return a remark for each sampled FMU whose sample period is not a multiple of the fixed step."""
    found = []
    for part in network.parts:
        period = part.abilities.period
        if period is not None and settings.step is not None and settings.step < period:
            ratio = period / settings.step
            if abs(ratio - round(ratio)) > 1e-6:
                text = (
                    f"the sample period {period:g} s of {part.name} is no multiple of the step of"
                    f" {settings.step:g} s; communication points are added at the sample times"
                )
                found.append(CouplingRemark("sample_off_grid", part.name, text))
    return found
