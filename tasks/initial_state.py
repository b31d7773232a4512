"""Functions that describe the initial state for `check`: inputs, forces, accelerations and modes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rich.table import Table

from ..analysis.system import System
from ..core.errors import SolveError
from ..plausibility import InitialState, input_starts

if TYPE_CHECKING:
    from ..linear import InitialModes

_SHOWN = 5  # Number of modes that a terminal shows.


def initial_data(model: System, initial: InitialState) -> dict[str, Any]:
    """Return the entry `initial_state` of the output of `check --json`.

    Parameters
    ----------
    model : System
        Mechanism with its equations.
    initial : InitialState
        Forces and accelerations of the mechanism at t = 0.

    Returns
    -------
    dict
        `inputs`, `forces`, `accelerations` and `modes`, each a list of tables. The modes are sorted by
        frequency in Hz, the lowest first. A further list, `rigid_body_modes`, contains the coordinates
        that move in rigid-body modes.
    """
    starts = input_starts(model)
    found = _modes(model)
    return {
        "inputs": [{"name": i.name, "value": starts[i.name], "unit": i.unit} for i in model.program.inputs],
        "forces": [
            {"kind": e.kind, "name": e.name, "where": e.where, "force": e.force + 0.0, "unit": "N"}
            for e in initial.forces
        ],
        "accelerations": [
            {"coordinate": c.name, "value": float(x), "unit": f"{c.unit}/s2"}
            for c, x, counts in zip(
                model.mechanism.coordinates, initial.accelerations, initial.is_significant, strict=True
            )
            if counts
        ],
        "modes": [
            {
                "coordinate": leading,
                "frequency": mode.frequency,
                "damped_frequency": mode.damped_frequency,
                "damping": mode.damping,
            }
            for mode, leading in zip(found.modes, found.leading, strict=True)
            if mode.damped_frequency and not mode.rigid_body
        ],
        "rigid_body_modes": list(found.free),
    }


def _modes(model: System) -> InitialModes:
    """Return the modes about the initial state; an empty result if the modes cannot be computed."""
    from ..linear import InitialModes, initial_modes  # noqa: PLC0415 - figures of `linear` take a second to load

    try:
        return initial_modes(model)
    except SolveError:
        return InitialModes((), (), ())


def initial_tables(found: Mapping[str, Any]) -> Iterator[Table | str]:
    """Yield the initial state as tables and lines for a terminal.

    The argument `found` is the result of the function `initial_data`. Empty lists yield nothing.
    """
    if found["inputs"]:
        values = ", ".join(f"{i['name']} = {i['value']:.6g} {i['unit']}" for i in found["inputs"])
        yield f"inputs at t = 0: {values}"
    if found["forces"]:
        forces = Table("element", "kind", "force N", title="forces at t = 0")
        for e in found["forces"]:
            forces.add_row(e["name"], e["kind"], f"{e['force']:.6g}")
        yield forces
    yield _accelerations(found["accelerations"])
    yield from _mode_tables(found)


def _accelerations(found: list[Mapping[str, Any]]) -> str:
    if not found:
        return "accelerations at t = 0: none"
    return "accelerations at t = 0: " + ", ".join(f"{a['coordinate']} {a['value']:.4g} {a['unit']}" for a in found)


def _mode_tables(found: Mapping[str, Any]) -> Iterator[Table | str]:
    if found["modes"]:
        title = "first modes about the initial state"
        modes = Table("undamped ω₀/2π Hz", "damped ω_d/2π Hz", "damping ratio", "most in", title=title)
        for mode in found["modes"][:_SHOWN]:
            numbers = (f"{mode[key]:.4g}" for key in ("frequency", "damped_frequency", "damping"))
            modes.add_row(*numbers, mode["coordinate"])
        yield modes
    if found["rigid_body_modes"]:
        yield f"rigid-body modes, without a frequency, move {', '.join(found['rigid_body_modes'])}"
