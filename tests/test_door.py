"""The public API: its surface, its examples, and what it does with wrong use."""

from __future__ import annotations

import doctest
import inspect
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import nbclient
import nbformat
import numpy as np
import pytest
from matplotlib import pyplot

import gpmelica as gp
from gpmelica.core.trajectory import Trajectory
from gpmelica.description.fields.numbers import value_of

ROOT = Path(__file__).resolve().parent.parent
FOUR_BAR = "examples/four_bar_3d.toml"

TYPES = """
BuildError Comparison CoupledRun DescriptionError Exported Fmu GpmelicaError LoadSummary MissingToolError Mode
ModeTracks Model Modes Optimum Problem Reactions Remark Run RunReport SolveError StateSpace Summary Sweep
UnknownNameError
"""
PUBLIC = dict.fromkeys(TYPES.split()) | {
    "cosim": "(system, out=None, *, tolerance=None, method='auto', step=None, order=None, stop=None, "
    "compare=False, command='', progress) -> CoupledRun",
    "from_urdf": "(path, base='fixed', *, density=None) -> Model",
    "load": "(path, case=None, **changes) -> Model",
    "optimize": "(model, bounds, objective, out=None, *, constraints=(), method='evolution', evaluations=1000,"
    " seed=0, scheduler='processes', progress) -> Optimum",
    "plot": "(runs, *names) -> list[Axes]",
    "sweep": "(model, settings, objectives=(), out=None, *, maximize=(), minimize=(), samples=None,"
    " sampler='sobol', seed=0, signals=None, scheduler='auto', workers=None, command='', progress) -> Sweep",
    "to_urdf": "(model) -> Exported",
}
METHODS = {
    "build": "(out=None, compiler='auto', fmi='2.0', *, platforms='', march='', omc=None, timeout=600.0,"
    " progress) -> Fmu",
    "check": "() -> Summary",
    "linearize": "(*, time=None, state=None, equilibrium=False, trim=False, inputs=None, progress,"
    " outputs=None, full=False) -> StateSpace",
    "loads": "(inputs=None, progress, fresh=False) -> LoadSummary",
    "modelica": "(*, drives=False) -> str",
    "modes": "(*, time=None, state=None, equilibrium=False, trim=False, inputs=None, progress) -> Modes",
    "modes_along": "(key, values, *, time=None, state=None, equilibrium=False, trim=False, inputs=None, progress)"
    " -> ModeTracks",
    "reactions": "() -> analysis.Reactions",
    "run": "(out=None, *, inputs=None, tolerance=None, rumoca=True, compiler='auto', fmi='2.0', march='',"
    " omc=None, timeout=600.0, live=False, fresh=False, command='', progress) -> RunReport",
    "simulate": "(inputs=None, progress, fresh=False, *, solver='reference', stop=None) -> Run",
    "ssp": "(out=None, controller=None, *, connect=(), fmi='2.0', march='', progress) -> Path",
    "statics": "() -> dict[str, float]",
}


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def _shape(function: object) -> str:
    """Names, defaults and what is returned; a default that is a function is left out."""
    signature = inspect.signature(function)  # type: ignore[arg-type]
    parameters = [
        p.replace(annotation=p.empty, default=p.empty if callable(p.default) else p.default)
        for name, p in signature.parameters.items()
        if name != "self"
    ]
    shown, keywords = [], False
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and not keywords:
            shown.append("*")
            keywords = True
        shown.append(str(p))
    return f"({', '.join(shown)}) -> {signature.return_annotation}"


def test_the_public_names_are_these() -> None:
    assert gp.__all__ == sorted(PUBLIC)
    assert dir(gp) == sorted([*PUBLIC, "__version__"])
    for name in gp.__all__:
        assert inspect.getdoc(getattr(gp, name))
    with pytest.raises(AttributeError, match="no attribute 'swap'"):
        _ = gp.swap


def test_the_signatures_are_these() -> None:
    functions = {name: shape for name, shape in PUBLIC.items() if shape is not None}
    assert {name: _shape(getattr(gp, name)) for name in functions} == functions
    assert {name: _shape(getattr(gp.Model, name)) for name in METHODS} == METHODS


@pytest.mark.slow
def test_simulate_imports_neither_reports_nor_the_oracle() -> None:
    program = f"""
import sys
import gpmelica as gp
gp.load({FOUR_BAR!r}, simulation={{"stop": 0.02}}).simulate()
print(*sorted(name for name in sys.modules if name.startswith(("gpmelica.report", "gpmelica.oracle"))))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.slow
@pytest.mark.parametrize(("page", "examples"), [("python.md", 20), ("linear.md", 5)])
def test_examples_of_the_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str, examples: int) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    outcome = doctest.testfile(str(ROOT / "docs" / page), module_relative=False)
    assert outcome.attempted >= examples
    assert outcome.failed == 0


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # Jupyter's own
def test_the_notebook_runs(tmp_path: Path) -> None:
    for name in ("four_bar.ipynb", "four_bar_3d.toml"):
        shutil.copy(ROOT / "examples" / name, tmp_path)
    notebook = nbformat.read(tmp_path / "four_bar.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    pictures = [o for cell in notebook.cells for o in cell.get("outputs", ()) if "image/png" in o.get("data", ())]
    assert len(pictures) == 2
    assert (tmp_path / "out" / "four_bar" / "report.html").is_file()


def test_every_package_is_installed() -> None:
    rooms = [path.parent for path in ROOT.glob("*/__init__.py") if path.parent.name not in ("tests", "examples")]
    found = {path.parent.relative_to(ROOT) for room in rooms for path in room.rglob("__init__.py")}
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    assert sorted(listed) == sorted(["gpmelica", *(".".join(("gpmelica", *place.parts)) for place in found)])


@pytest.mark.slow
def test_building_an_fmu_draws_nothing() -> None:
    """Pictures come from outside, so that workers which build and run FMUs need not load what draws."""
    code = "import sys, gpmelica.fmu.backends.native; print('matplotlib' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"


def test_importing_loads_no_solver() -> None:
    code = "import sys, gpmelica.cli.app; print({'numpy', 'casadi', 'scipy', 'pydantic'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_changes_go_where_cases_go() -> None:
    description = gp.load(
        FOUR_BAR,
        case="planar",
        simulation={"stop": 0.5},
        links={"crank": {"mass": np.float64(2.0), "com": np.array([0.2, 0.0, 0.0])}},
        **{"links.*.joint.damping": 0.1, "points.F": {"link": "coupler"}},
    ).description
    assert description.closures[0].type == "point_on_line"
    assert (description.simulation.stop, description.simulation.tolerance) == (0.5, 1e-10)
    assert (description.links[0].mass, description.links[0].com) == (2.0, (0.2, 0.0, 0.0))
    assert [link.joint.damping for link in description.links] == [0.1, 0.1, 0.1]
    assert set(description.points) == {"E", "F"}


def test_a_table_that_is_not_there_is_made() -> None:
    """A new parameter is accepted together with the number that it stands for."""
    description = gp.load(FOUR_BAR, parameters={"payload": 3.0}, **{"links.crank.mass": "payload"}).description
    assert description.parameter_values == {"payload": 3.0}
    assert value_of(description.links[0].mass) == 3.0


def test_wrong_changes_are_reported_all_at_once() -> None:
    with pytest.raises(gp.DescriptionError) as caught:
        gp.load(FOUR_BAR, gravity=[0.0, 0.0], **{"links.cranc.mass": 1.0, "simulation.stop": -1.0})
    text = str(caught.value)
    assert 'changes."links.cranc.mass": there is no key' in text
    assert "lead to gravity: expected 3 values, got 2" in text
    assert "lead to simulation.stop: expected a number above 0, got -1.0" in text


@pytest.mark.slow
def test_a_run_is_arrays_a_table_and_a_plot() -> None:
    pandas = pytest.importorskip("pandas")
    run = gp.load(FOUR_BAR, simulation={"stop": 0.05}).simulate()
    assert "E_x" in run
    assert run["E_x"].shape == run.time.shape == (6,)
    frame = run.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["E_x"].loc[0.05] == run["E_x"][-1]
    assert frame.shape == (6, len(run) - 1)


def test_a_plot_has_axes_per_unit() -> None:
    run = gp.Run(
        Trajectory("reference", np.array([0.0, 1.0]), {name: np.zeros(2) for name in ("a", "b", "c")}),
        {"a": "m", "b": "rad", "c": "m"},
    )
    try:
        first, second = run.plot("a", "b", "c")
        assert [line.get_label() for line in first.lines] == ["a", "c"]
        assert (first.get_ylabel(), second.get_ylabel()) == ("m", "rad")
    finally:
        pyplot.close("all")
    for names in ((), ("d",)):
        with pytest.raises(gp.UnknownNameError, match="known are: time, a, b, c"):
            run.plot(*names)
    for name in (0, ["a", "b"]):
        with pytest.raises(gp.UnknownNameError, match=r"expected the name of a signal, got [0\[]"):
            run.plot(name)  # type: ignore[arg-type]


def test_a_text_is_one_name() -> None:
    with pytest.raises(gp.DescriptionError, match=r"amiga: unknown platform"):
        gp.load(FOUR_BAR).build(platforms="amiga")


@pytest.mark.slow
def test_inputs_are_arrays_by_name(tmp_path: Path) -> None:
    slewing = gp.load("examples/slewing/slewing.toml", simulation={"stop": 0.05})
    name = slewing.prepared.program.inputs[0].name
    ramp = {"time": [0.0, 1.0], **{entry.name: [0.0, 10.0] for entry in slewing.prepared.program.inputs}}
    pushed, still = slewing.simulate(inputs=ramp), slewing.simulate()
    if find_spec("pandas"):
        tabled = slewing.simulate(inputs=import_module("pandas").DataFrame(ramp))
        assert all((pushed[signal] == tabled[signal]).all() for signal in still)
    assert any(np.abs(pushed[signal] - still[signal]).max() > 1e-9 for signal in still)
    with pytest.raises(gp.DescriptionError, match=f"inputs: names: expected .* {name} is missing"):
        slewing.simulate(inputs={"time": [0.0, 1.0]})
    with pytest.raises(gp.DescriptionError, match="one column 'time'"):
        slewing.simulate(inputs={name: [0.0, 10.0]})
    with pytest.raises(gp.DescriptionError, match=r"inputs: expected a CSV file, or arrays by name.*, got list"):
        slewing.simulate(inputs=[0.0, 10.0])  # type: ignore[arg-type]
    with pytest.raises(gp.DescriptionError, match="arrays of equal length"):
        slewing.simulate(inputs=ramp | {name: [0.0]})
