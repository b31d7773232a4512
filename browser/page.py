"""Section of an HTML page that simulates a mechanism: controls, data and scripts."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping, Sequence
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
from ..mechanism import Mechanism, signal_names
from ..scene import extent
from .arrows import ArrowVariables, arrows, with_arrows
from .frames import frames
from .wasm import webassembly

_SCRIPTS = ("engine.js", "plot.js", "live.js")
_STANDARD_GRAVITY = 9.81  # m/s²
_PLOTTED = 3  # When the page opens, its plot shows at most this many signals.


@dataclass(frozen=True)
class LivePart:
    """Section of an HTML page that simulates a mechanism and shows controls.

    Parameters
    ----------
    markup
        HTML of the controls, lists and plots; scripts fill the lists and plots.
    scripts
        HTML elements that contain the data as JSON, and the JavaScript.
    policy
        Script sources for the content security policy of the page.
    """

    markup: Markup
    scripts: Markup
    policy: str


def live_part(
    model: System, run: Trajectory | None, inputs: Trajectory | None = None, progress: Progress = silent
) -> LivePart:
    """Compile a mechanism to WebAssembly, and return the section of a web page that simulates it.

    Parameters
    ----------
    model
        Mechanism with its equations.
    run
        Result of the native FMU, with which the page compares its own simulation; None for no
        comparison.
    inputs
        Inputs of the FMU over time, interpolated linearly; None for constant inputs.
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
        Markup("\n").join(
            [json_script("live-data", _data(model, run, inputs)), Markup(f"<script>{script}</script>")]
        ),
        f"{policy_hash(script)} 'wasm-unsafe-eval'",
    )


def _data(model: System, run: Trajectory | None, given: Trajectory | None) -> dict[str, Any]:
    drawn = arrows(model)
    program = with_arrows(model.native_program, drawn)
    sources = native.generate(program, model.chain, "2.0")
    geometry = frames(model.chain, [arrow.coordinate for arrow in drawn if arrow.coordinate is not None])
    table = variables.table(program)
    number = {v.name: k for k, v in enumerate(table)}
    coordinates = signal_names(model.mechanism.coordinates, "position")
    simulation = model.chain.simulation
    inputs, parameters, outputs = (
        [v for v in table if v.kind == kind] for kind in ("input", "parameter", "output")
    )
    sizes = _sizes(model.mechanism)
    hidden = {name for arrow in drawn for name in arrow.names}
    return {
        "name": model.name,
        "guid": variables.token(program, table),
        "module": base64.b64encode(gzip.compress(webassembly(sources, geometry), 9, mtime=0)).decode(),
        "stop": simulation.stop,
        "tolerance": simulation.tolerance,
        "inputs": [_dial(v, number, sizes) for v in inputs],
        "parameters": [_dial(v, number, {}) | {"named": v.name in model.chain.parameters} for v in parameters],
        "outputs": [_about(v, number) for v in outputs if v.name not in hidden],
        "plotted": [c.symbol for c in model.mechanism.coordinates if c.role == "joint"][:_PLOTTED],
        "coordinates": [number[name] for name in coordinates],
        "geometry": [number[name] for name in geometry.parameters],
        "bodies": geometry.bodies,
        "axes": geometry.axes,
        "arrows": [_arrow(arrow, number) for arrow in drawn],
        "course": None if given is None else _course(given, inputs),
        "report": None if run is None else _path(run, coordinates),
    }


def _arrow(arrow: ArrowVariables, number: dict[str, int]) -> dict[str, Any]:
    references = [number[name] for name in arrow.names]
    return {"mark": arrow.mark, "references": references, "axial": arrow.coordinate is not None}


def _course(given: Trajectory, inputs: Sequence[Variable]) -> dict[str, Any]:
    """Return the times, s, at which inputs are given, and the values of each input.

    The inputs have the order of the FMU's variables.
    """
    return {"time": given.time.tolist(), "values": [given.signals[v.name].tolist() for v in inputs]}


def _about(variable: Variable, number: dict[str, int]) -> dict[str, Any]:
    unit = variable.unit or ""
    return {"name": variable.name, "reference": number[variable.name], "unit": unit, "text": variable.description}


def _sizes(mechanism: Mechanism) -> dict[str, float]:
    """Return typical values of force and torque inputs by unit: weight, N, and weight times extent, N·m."""
    weight = sum(float(body.mass) for body in mechanism.bodies) * _STANDARD_GRAVITY
    return {"N": weight, "N.m": weight * extent(mechanism, np.array([c.position for c in mechanism.coordinates]))}


def _dial(variable: Variable, number: dict[str, int], sizes: Mapping[str, float]) -> dict[str, Any]:
    """Return value, bounds and slider interval of a variable.

    The slider interval depends on the value:

    - Parameter with a nonzero value v: from 0 to 2·v.
    - Input with a nonzero value v: from −2·|v| to 2·|v|.
    - Variable with the value 0: from −s to s. The number s is the typical value in `sizes` for the
      unit of the variable, or 2 if `sizes` does not contain the unit.

    The interval never extends beyond the bounds of the variable.
    """
    value, bounds = float(variable.start or 0.0), variable.bounds
    size = abs(value) or sizes.get(variable.unit or "", 2.0) / 2
    low, high = (-2 * size, 2 * size) if variable.kind == "input" or not value else sorted((0.0, 2 * value))
    span = [max(low, bounds.low), min(high, bounds.high)]
    limits = {"least": bounds.minimum, "most": bounds.maximum}
    return _about(variable, number) | {"value": value, "span": span} | limits


def _path(run: Trajectory, coordinates: list[str]) -> dict[str, Any]:
    """Return the coordinates of a run at equally spaced times as base64 text, and their scales.

    The scale of a coordinate is the range of its values in the run, but at least 0.001 rad or m. If the
    last output interval is shorter than the others, the last output time is omitted.
    """
    steps = np.diff(run.time)
    count = len(run.time) - int(steps[-1] < (1 - 1e-6) * steps[0])
    path: Array = run.columns(coordinates)[:count]
    scales = np.maximum(np.ptp(path, axis=0), 1e-3)
    packed = base64.b64encode(np.ascontiguousarray(path, dtype="<f8").tobytes()).decode()
    return {"count": count, "stop": float(run.time[count - 1]), "path": packed, "scales": scales.tolist()}
