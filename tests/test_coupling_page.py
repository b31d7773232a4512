"""Report of a coupled run, and the comparison of coupling methods behind its work–precision figure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from helpers_coupling import boom, quarter_car, rope_bounce, sampled_control, two_masses, two_masses_exact

from gpmelica.coupling.compared_run import ComparedRun
from gpmelica.coupling.method_comparison import compare
from gpmelica.coupling.network import Network
from gpmelica.coupling.page import tables, write_page
from gpmelica.coupling.page.findings import findings
from gpmelica.coupling.page.series import errors_by_finer_run, errors_by_whole, gaps, step_lengths
from gpmelica.coupling.system import CoupledSystem
from gpmelica.coupling.verdict import Coupled, Options, couple
from gpmelica.coupling.whole import WholeDifference


def judged(network: Network, stop: float = 0.2, **wishes: float) -> Coupled:
    """A run with its verdict."""
    return couple(CoupledSystem("test", network, stop=stop), Options(**wishes))  # type: ignore[arg-type]


def compared(network: Network, stop: float, **wishes: float) -> list[ComparedRun]:
    """Runs of a system by all methods that it permits."""
    system, options = CoupledSystem("test", network, stop=stop), Options(**wishes)  # type: ignore[arg-type]
    return compare(system, options, couple(system, options))


# ---- Numbers behind the page --------------------------------------------------------------------------------


@pytest.mark.parametrize("network", [two_masses, sampled_control, rope_bounce])
def test_largest_error_over_time_is_the_estimated_error(network: Callable[[], Network]) -> None:
    """The curves of the figure and the number in the verdict are the same differences, apart from the grid."""
    run = judged(network(), step=0.01)
    largest = max(float(np.nanmax(values)) for values in errors_by_finer_run(run).values())
    assert largest <= 1.0001 * run.error + 1e-12  # rounding
    assert largest > 0.2 * run.error
    assert tables.errors(run).rows[0][0] in run.signals


def test_differences_to_an_uncut_machine_are_those_of_the_signals() -> None:
    """An error of a thousandth of the range that is added to one signal is found again, at its place."""
    run = judged(two_masses(), step=0.01)
    shifted = run.signals["A.x"].copy()
    shifted[70] += 1e-3 * np.ptp(shifted)
    whole = WholeDifference(1e-3, "A.x", True, {"A.x": shifted})
    errors = errors_by_whole(replace(run, whole=whole))["A.x"]
    assert int(np.argmax(errors)) == 70
    assert errors[70] == pytest.approx(1e-3, rel=1e-2)
    assert np.count_nonzero(errors) == 1


def test_error_of_the_coupling_and_change_of_the_model_are_separate_rows() -> None:
    """The uncut mechanism shows the error of the coupling or, with bushings, the change of the model."""
    run = judged(two_masses(), step=0.01)
    exact, bushed = (replace(run, whole=WholeDifference(0.3, "A.x", kind)) for kind in (True, False))
    assert [row[1] for row in tables.origins(exact).rows][1:] == ["0.3", "0"]
    assert tables.origins(bushed).rows[1][:2] == ("change of the model by bushings", "0.3")
    assert dict(findings(exact))["disagrees"].endswith("this is the error of the coupling.")
    agrees = findings(replace(bushed, tolerance=1.0))[1]
    assert agrees[0] == "agrees"
    assert agrees[1].endswith("this is the change of the model by bushings and is not judged.")


def test_steps_and_times_add_up() -> None:
    """Communication steps fill the time span, and the shares of FMUs and master are the whole time."""
    run = judged(sampled_control(), step=0.02)
    assert step_lengths(run).sum() == pytest.approx(0.2)
    rows = tables.times(run).rows
    assert sum(float(row[2].removesuffix(" %")) for row in rows) == pytest.approx(100.0, abs=2.0)
    assert {row[0] for row in rows} == {"plant", "control", "simulation master"}
    assert {row[0]: row[7] for row in rows}["control"] == "20 ms"


@pytest.mark.slow
def test_gaps_of_the_page_are_those_of_the_positions() -> None:
    run = judged(boom(800.0, 200.0), step=0.02)
    found = gaps(run)
    assert found.shape == (len(run.record.times), 2)
    assert found[1:].max() < 1e-9
    shown = [float(row[3].replace("−", "-")) for row in tables.gaps(run).rows]
    assert shown == pytest.approx(found[1:].max(axis=0), rel=0.05)


# ---- Comparison of methods ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_errors_of_compared_methods() -> None:
    """Errors fall with the step by the order of the method, and agree with those against the exact solution."""
    runs = compared(two_masses(), 0.5, step=0.01)
    curves: dict[str, list[ComparedRun]] = {}
    for run in runs:
        curves.setdefault(run.label, []).append(run)
    for label, least in (("hermite", 3.0), ("sequential, order 1", 1.2)):
        fine, finest = curves[label][-2:]
        assert fine.step == 2.0 * (finest.step or 0.0)
        assert np.log2((fine.error or 0.0) / (finest.error or 1.0)) > least
    assert curves["hermite"][-1].error < 1e-2 * (curves["sequential, order 0"][-1].error or 0.0)
    automatic = curves["hermite, automatic step"]
    assert [run.tolerance for run in automatic] == pytest.approx([1e-3, 1e-4, 1e-5])
    assert [run.steps for run in automatic] == sorted(run.steps or 0 for run in automatic)
    network = two_masses()
    run = couple(CoupledSystem("test", network, stop=0.5), Options(step=0.01))
    exact = two_masses_exact(run.time)
    true = np.max(np.abs(run.signals["A.x"] - exact)) / np.ptp(exact)
    assert next(r.error for r in curves["hermite"] if r.step == 0.01) > 0.5 * true


@pytest.mark.slow
def test_methods_that_a_system_does_not_permit_are_named() -> None:
    """A pair of masses that takes force and motion has no law for a mean force; the reason is reported."""
    runs = compared(quarter_car(), 0.04, step=0.01)
    failed = {run.label: run.failure for run in runs if run.failure}
    assert "requires springs and dampers as separate FMUs" in failed["mean_force"]
    assert all(run.error is None and run.steps is None for run in runs if run.failure)
    assert {run.method for run in runs if not run.failure} == {"sequential", "hermite"}


def test_a_system_without_a_loop_has_one_method() -> None:
    assert {run.label for run in compared(sampled_control(), 0.04, step=0.01)} == {"sequential, order 2"}


# ---- Page ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_page(tmp_path: Path) -> None:
    """The page names methods, reasons, errors, gaps and times, shows all figures, and needs no web address."""
    system, options = CoupledSystem("Boom", boom(800.0, 200.0), stop=0.2), Options(step=0.02)
    run = couple(system, options)
    run = replace(run, comparison=compare(system, options, run))
    text = write_page(tmp_path, run, "gpmelica cosim Boom.ssp --compare").read_text(encoding="utf-8")
    words = re.findall(r'<span class="badge (\w+)">', text)
    assert words == ["consistent", "agrees", "holds", "plausible"]
    plain = unescape(re.sub(r"<[^>]+>", " ", text))
    for part in (
        "forces keep them together",
        "20 ms",
        "error of the coupling, estimated by a finer run",
        "lower.pin.x",
        "simulation master",
        "gpmelica cosim Boom.ssp --compare",
    ):
        assert part in plain
    figures = ["errors", "gaps", "signals", "steps", "work_precision"]
    assert re.findall(r'<figure id="(\w+)">', text) == figures
    assert sorted(path.name for path in (tmp_path / "figures").glob("*.png")) == [
        f"{name}.png" for name in figures
    ]
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
