"""Interactive part of an HTML page that simulates a mechanism: controls, data and scripts."""

from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from markupsafe import Markup

from ..analysis.system import System
from ..core.progress import Progress, silent
from ..core.scripts import json_script, policy_hash
from ..core.templates import fill
from ..core.trajectory import Array, Trajectory
from ..fmu.backends import native
from ..generator import variables
from ..generator.variables import Variable
from ..mechanism import signal_names
from .frames import frames
from .wasm import webassembly

_SCRIPTS = ("engine.js", "plot.js", "live.js")
_PLOTTED = 3  # number of signals that the page plots before the user has chosen any


@dataclass(frozen=True)
class LivePart:
    """Interactive part of an HTML page that simulates a mechanism.

    Parameters
    ----------
    markup
        HTML of the controls, of empty lists and of empty plots.
    scripts
        HTML of the data as JSON, and of the JavaScript.
    policy
        Sources of scripts that the page's content security policy has to allow.
    """

    markup: Markup
    scripts: Markup
    policy: str


def live_part(model: System, run: Trajectory | None, progress: Progress = silent) -> LivePart:
    """Compile a mechanism to WebAssembly and write the part of an HTML page that simulates it.

    Parameters
    ----------
    model
        The mechanism with its equations.
    run
        Co-simulation of the native FMU with constant inputs, with which the page compares its own
        simulation; None if there is none.
    progress
        Function that is called with an activity and the completed fraction.

    Raises
    ------
    MissingToolError
        If ziglang is not installed.
    BuildError
        If the compiler fails.
    """
    progress("WebAssembly", 0.0)
    texts = [files(__package__).joinpath(name).read_text(encoding="utf-8") for name in _SCRIPTS]
    script = "(function () {\n" + "\n".join(texts) + "\n})();"
    return LivePart(
        Markup(fill("browser/live.html.jinja", {"parameters": len(model.native_program.parameters)})),
        Markup("\n").join([json_script("live-data", _data(model, run)), Markup(f"<script>{script}</script>")]),
        f"{policy_hash(script)} 'wasm-unsafe-eval'",
    )


def _data(model: System, run: Trajectory | None) -> dict[str, Any]:
    sources = native.generate(model.native_program, model.chain, "2.0")
    geometry = frames(model.chain)
    table = variables.table(model.native_program)
    number = {v.name: k for k, v in enumerate(table)}
    coordinates = signal_names(model.mechanism.coordinates, "position")
    simulation = model.chain.simulation
    inputs, parameters, outputs = (
        [v for v in table if v.kind == kind] for kind in ("input", "parameter", "output")
    )
    return {
        "name": model.name,
        "guid": variables.token(model.native_program, table),
        "module": base64.b64encode(gzip.compress(webassembly(sources, geometry), 9, mtime=0)).decode(),
        "stop": simulation.stop,
        "tolerance": simulation.tolerance,
        "inputs": [_dial(v, number) for v in inputs],
        "parameters": [_dial(v, number) | {"named": v.name in model.chain.parameters} for v in parameters],
        "outputs": [_about(v, number) for v in outputs],
        "plotted": [c.symbol for c in model.mechanism.coordinates if c.role == "joint"][:_PLOTTED],
        "coordinates": [number[name] for name in coordinates],
        "geometry": [number[name] for name in geometry.parameters],
        "bodies": geometry.bodies,
        "report": None if run is None else _path(run, coordinates),
    }


def _about(variable: Variable, number: dict[str, int]) -> dict[str, Any]:
    unit = variable.unit or ""
    return {"name": variable.name, "reference": number[variable.name], "unit": unit, "text": variable.description}


def _dial(variable: Variable, number: dict[str, int]) -> dict[str, Any]:
    """Return value, bounds and slider interval of a variable.

    The slider goes from zero to twice the value; for an input or a value of zero it covers both signs.
    """
    value, bounds = float(variable.start or 0.0), variable.bounds
    size = abs(value) or 1.0
    low, high = (-2 * size, 2 * size) if variable.kind == "input" or not value else sorted((0.0, 2 * value))
    span = [max(low, bounds.low), min(high, bounds.high)]
    limits = {"least": bounds.minimum, "most": bounds.maximum}
    return _about(variable, number) | {"value": value, "span": span} | limits


def _path(run: Trajectory, coordinates: list[str]) -> dict[str, Any]:
    """Return the coordinates of a run at equally spaced output times, as base64 text, and their scales.

    The last output time is left out if the interval before it is shorter than the others.
    """
    steps = np.diff(run.time)
    count = len(run.time) - int(steps[-1] < (1 - 1e-6) * steps[0])
    path: Array = run.columns(coordinates)[:count]
    scales = np.maximum(np.ptp(path, axis=0), 1e-3)
    packed = base64.b64encode(np.ascontiguousarray(path, dtype="<f8").tobytes()).decode()
    return {"count": count, "stop": float(run.time[count - 1]), "path": packed, "scales": scales.tolist()}
