"""Pages that simulate: the FMU as WebAssembly in a browser agrees with the native FMU in FMPy."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from helpers_browser import browser, chromium, page_at, until

import gpmelica
from gpmelica.browser import LivePart, live_part
from gpmelica.core.trajectory import Array, Trajectory
from gpmelica.fmu.backends import native
from gpmelica.fmu.compilers import compiler
from gpmelica.mechanism import signal_names
from gpmelica.reference.kinematics.piecewise import PiecewiseLinear
from gpmelica.report.animation import page
from gpmelica.scene import still

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not compiler.has_zig(), reason="needs ziglang: pip install gpmelica[cross]"),
]

EXAMPLES = Path(__file__).parent.parent / "examples"
COUNT = 101
# description, case, a parameter and the factor by which it changes
MACHINES = [
    pytest.param("crane.toml", None, "jib_mass", 1.5, id="elastic_crane"),
    pytest.param("lorry_crane.toml", "tips", "payload", 0.8, id="events", marks=pytest.mark.campaign),
    pytest.param("four_bar_3d.toml", None, "rocker_mass", 2.0, id="closed_loop", marks=pytest.mark.campaign),
    pytest.param("crane.toml", "rigid_boom_lugre", "jib_mass", 1.2, id="friction", marks=pytest.mark.campaign),
    pytest.param("arms/six_axis.toml", None, "wrist3_mass", 3.0, id="arm", marks=pytest.mark.campaign),
]


def fmu_run(model: Any, fmu: Path, start_values: dict[str, float]) -> Array:
    """Coordinates of a co-simulation in FMPy at COUNT times, shape (COUNT, n)."""
    names, simulation = signal_names(model.mechanism.coordinates, "position"), model.chain.simulation
    step = simulation.stop / (COUNT - 1)
    result = fmpy.simulate_fmu(
        fmu,
        fmi_type="CoSimulation",
        stop_time=simulation.stop,
        step_size=step,
        output_interval=step,
        relative_tolerance=simulation.tolerance,
        start_values=start_values,
        output=names,
    )
    return np.column_stack([result[name] for name in names])


def parts(model: Any, path: Array) -> LivePart:
    """Part of a page whose report has a run that ended early, with a shorter last interval."""
    names = signal_names(model.mechanism.coordinates, "position")
    time = np.linspace(0.0, model.chain.simulation.stop, COUNT)[:-10]
    time[-1] -= 0.5 * time[1]
    return live_part(model, Trajectory("fmu-native-cs", time, dict(zip(names, path[:-10].T, strict=True))))


# a run of the page with one changed parameter: its coordinates, row by row
CHANGED = """async ([name, value, count]) => {
  const live = document.getElementById("live").live;
  live.parameters.find((dial) => dial.data.name === name).set(value);
  const result = await live.run(live.request(live.data.stop, count));
  return [result.failure, Array.from(result.path)];
}"""


# the arrows that the page draws, and their forces at the initial time
FORCES = """async () => {
  const live = document.getElementById("live").live, { arrows, stop } = live.data;
  const { forces } = await live.run(live.request(stop, 2, false));
  return [arrows.map(({ mark }) => mark), Array.from(forces.slice(0, 3 * arrows.length))];
}"""

# runs that failed after three output times and at their begin: frames that the player has of them, and their times
# relative to the right ones
FAILED = """async () => {
  const live = document.getElementById("live").live, { motions } = live.player;
  const result = await live.run(live.request(0.33 * live.data.stop, 5));
  live.keep({ ...result, reached: 3, failure: "failed" });
  live.keep({ ...result, reached: 0, failure: "failed" });
  return motions.slice(0, -1).map(({ frames, pace }) => [frames, pace * live.player.rate * result.step]);
}"""

# as many changes of a parameter as a key makes that is held for five seconds
MANY = """() => {
  const dial = document.getElementById("live").live.parameters[0], { value } = dial;
  for (let k = 300; k >= 0; k--) dial.set((1 + 1e-3 * k) * value);
}"""


# number of plots after a signal was chosen, its plot closed, and the same signal chosen again
CHOSEN_AGAIN = """() => {
  const live = document.getElementById("live").live, list = live.part("signals"), name = list.options[1].value;
  const choose = () => {
    if (list.value === name) return;  // a browser reports no change
    list.value = name;
    list.dispatchEvent(new Event("change"));
  };
  live.plots.forEach(({ plot }) => plot.figure.querySelector("button").click());
  choose();
  live.plots.get(name).plot.figure.querySelector("button").click();
  choose();
  return live.plots.size;
}"""


@pytest.mark.parametrize(("name", "case", "parameter", "factor"), MACHINES)
def test_browser_agrees_with_fmpy(
    tmp_path: Path, name: str, case: str | None, parameter: str, factor: float
) -> None:
    chromium()  # skips the test before anything is compiled
    model = gpmelica.load(EXAMPLES / name, case=case).prepared
    fmu = native.build_bare(model, tmp_path)
    default = fmu_run(model, fmu, {})
    variables = {v.name: float(v.start) for v in fmpy.read_model_description(fmu).modelVariables if v.start}
    changed_value = factor * variables[parameter]
    file = page(still(model.problem), live=parts(model, default)).write(tmp_path / "live.html")
    with browser() as found, page_at(found, file.as_uri(), 1200) as (shown, complaints):
        until(shown, "document.getElementById('live').dataset.agreement !== undefined", 60.0)
        assert float(shown.evaluate("document.getElementById('live').dataset.agreement")) < 1e-9
        marks, forces = shown.evaluate(FORCES)
        scene = still(model.problem)
        assert marks == list(range(len(scene.marks)))
        expected_forces = scene.acting[0]
        limit = 1e-7 * np.abs(expected_forces).max(initial=1.0)  # 32-bit numbers
        assert np.abs(np.reshape(forces, (-1, 3)) - expected_forces).max(initial=0.0) < limit
        failure, path = shown.evaluate(CHANGED, [parameter, changed_value, COUNT])
        assert failure == ""
        expected = fmu_run(model, fmu, {parameter: changed_value})
        scale = np.maximum(np.ptp(expected, axis=0), 1e-3)
        error = np.abs(np.reshape(path, expected.shape) - expected) / scale
        assert error.max() < 1e-9
        assert np.abs(expected - default).max() > 1e-6  # the parameter has an effect
        shown.evaluate(MANY)
        assert shown.evaluate(CHOSEN_AGAIN) == 1
        assert shown.evaluate(FAILED) == [[3, pytest.approx(1.0)]]
        assert not complaints


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("name", "stop", "inputs"), [("four_bar_3d", 0.5, None), ("tower_crane/tower_crane", 3.0, "commands.csv")]
)
def test_report_compares_the_browser_with_its_own_run(
    tmp_path: Path, name: str, stop: float, inputs: str | None
) -> None:
    """The tower crane's commands jump at 2 s."""
    chromium()
    file = EXAMPLES / f"{name}.toml"
    model = gpmelica.load(file, simulation={"stop": stop})
    model.run(tmp_path, inputs=inputs and file.parent / inputs, rumoca=False, compiler="native", live=True)
    with browser() as found, page_at(found, (tmp_path / "report.html").as_uri(), 1200) as (shown, complaints):
        until(shown, "document.getElementById('live').dataset.agreement !== undefined", 60.0)
        assert 0.0 <= float(shown.evaluate("document.getElementById('live').dataset.agreement")) < 1e-9
        assert not complaints


def test_inputs_over_time_in_the_page() -> None:
    """The page reads inputs as the reference solver does: kinks, jumps, and the linear piece of a step."""
    chromium()
    time, values = [0.0, 0.5, 0.5, 1.0, 2.0], [[0.0, 1.0, 3.0, 3.0, -1.0], [2.0, 2.0, 0.0, 5.0, 5.0]]
    table = {"time": time, "values": values}
    pairs = [(t, since) for since in (0.0, 0.25, 0.5, 0.75, 1.0, 2.0) for t in (since, since + 0.2)]
    source = files("gpmelica.browser").joinpath("engine.js").read_text(encoding="utf-8")
    script = f"(given) => {{ {source}; return given[1].map(([t, since]) => inputsAt(given[0], t, since)); }}"
    with browser() as found, page_at(found, "about:blank", 800) as (shown, complaints):
        answers = shown.evaluate(script, [table, pairs])
        assert not complaints
    functions = [PiecewiseLinear(np.array(time), np.array(own)) for own in values]
    for (t, since), answer in zip(pairs, answers, strict=True):
        assert answer == pytest.approx([f.at(t, since) for f in functions], abs=1e-12)


def test_missing_ziglang_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "has_zig", lambda: False)
    with pytest.raises(gpmelica.MissingToolError, match="pip install ziglang"):
        live_part(gpmelica.load(EXAMPLES / "four_bar_3d.toml").prepared, None)


def test_missing_ziglang_is_reported_before_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "has_zig", lambda: False)
    with pytest.raises(gpmelica.MissingToolError, match="pip install ziglang"):
        gpmelica.load(EXAMPLES / "four_bar_3d.toml").run(tmp_path, live=True)
    assert not any(tmp_path.iterdir())
