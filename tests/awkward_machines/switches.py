"""Switching times at awkward places: at the run's start and end, and next to one another."""

from __future__ import annotations

from .parts import Table, Z, awkward, link, machine

_STOP = 0.3


def _pushed(*efforts: str) -> Table:
    forces = [{"name": f"push{k}", "joint": "bar", "effort": effort} for k, effort in enumerate(efforts)]
    return machine(link("bar", "revolute", Z), forces=forces, simulation={"stop": _STOP})


@awkward("ok")
def switched_at_the_end() -> Table:
    """A force that ends with the run: there its acceleration is the one after the switch, in all runs."""
    return _pushed("2 if t <= 0.3 else 0")


@awkward("ok")
def switched_at_the_end_but_for_rounding() -> Table:
    """0.1 + 0.2 is not 0.3, but the next number above it; 3·0.1 likewise, and 0.9/3 is the one below."""
    return _pushed("2 if t <= 0.1 + 0.2 else 0", "3 if t < 0.9/3 else 1")


@awkward("ok")
def switched_at_the_start() -> Table:
    """A force that is never there."""
    return _pushed("2 if t <= 0 else 1")


@awkward("ok")
def switched_at_once_but_for_rounding() -> Table:
    """Two forces that change places at one time, which is two numbers."""
    return _pushed("2 if t < 0.1 + 0.05 else 0", "0 if t < 0.15 else 2")


@awkward("ok")
def switched_between_output_times() -> Table:
    """A push of a tenth of an output step."""
    return _pushed("0 if t < 0.1043 else (50 if t < 0.1053 else 0)")
