"""Where a run of the reference ends before its time, or might: the message says when, which rows, how far."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_loops import four_bar
from helpers_parts import body, link
from helpers_reference import manipulator, mechanism_of, unchecked

from gpmelica.commands.run import Options, run
from gpmelica.errors import MissingToolError, SolveError
from gpmelica.fmu.backends.backend import Compilers
from gpmelica.fmu.backends.omc import OpenModelica
from gpmelica.fmu.backends.openmodelica import Omc
from gpmelica.generator.description.load import from_data
from gpmelica.generator.mechanism import Mechanism
from gpmelica.prepared import prepare
from gpmelica.reference import simulate, singular_times, solvability, start_notes, start_state

STRETCHED = "at the limit of what the joints can do"
# rows on a planar arm of 1 m and 0.8 m → what the message says
ENDS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "beyond reach": ({"x": "E.x - 5"}, ("the rows x become singular", STRETCHED, "misses x by 3.2")),
    "out of reach on the way": (
        {"x": "E.x - start(E.x) - t", "z": "E.z - start(E.z)"},
        ("the rows x, z become singular", STRETCHED, "at t = 1 s the nearest position misses"),
    ),
    "root": (
        {"x": "upper.angle - sqrt(0.2 - t)"},
        ("ends at t = ", "accelerates without bound", "sqrt in programmed constraint x comes to the end"),
    ),
    "runaway": ({"x": "upper.angle - start(upper.angle) - 1e-6*exp(1e6*t)"}, ("without bound", "its rate is")),
    "logarithm": ({"x": "upper.angle - 0.1*log(0.1 - t)"}, ("without bound", "log in programmed constraint x")),
}


def _arm(rows: dict[str, str], **simulation: Any) -> Mechanism:
    data = manipulator(programmed=[{"name": name, "expression": text} for name, text in rows.items()])
    return unchecked(data | {"simulation": {"start": "description", "stop": 1.0} | simulation})


@pytest.mark.parametrize("name", ENDS)
def test_why_a_run_ends(name: str) -> None:
    """Rows that become singular and how far the target is, or the function that comes to the end of its domain."""
    rows, words = ENDS[name]
    with pytest.raises(SolveError) as raised:
        simulate(_arm(rows, tolerance=1e-7))
    assert all(text in str(raised.value) for text in words), str(raised.value)


def test_a_row_that_opens_stops_the_run() -> None:
    """Two rows that agree until an angle is passed: the run ends there, within a step, with name and residual."""
    extra = "0.1*(upper.angle - 0.5) if upper.angle > 0.5 else 0"
    rows = {"still": "E.x - start(E.x)", "other": f"2*(E.x - start(E.x)) + ({extra})"}
    with pytest.raises(SolveError, match=r"other: left out .* at t = 0\.\d+ s its positions are open by \d"):
        simulate(_arm(rows, output_step=0.5, violation=1e-5))


def test_what_was_changed_of_the_start() -> None:
    """A loop that is closed by moving far, and a velocity that it does not allow, are said with from and to."""
    data = four_bar(0.7, statics={"locked": ["crank"]})
    mechanism = mechanism_of(data)
    assert start_notes(mechanism, start_state(mechanism)) == []
    data["links"][1]["joint"] = data["links"][1]["joint"] | {"position": -2.0, "velocity": 3.0}
    mechanism = mechanism_of(data)
    moved, slowed = start_notes(mechanism, start_state(mechanism))
    assert "loops were closed by moving joints far: coupler.angle from -2 to " in moved
    assert slowed.startswith("start velocities were changed to what closures")
    assert "coupler.angle from 3 to " in slowed


def test_rows_that_cannot_be_fulfilled_are_noted() -> None:
    """A target beyond reach is said before a run."""
    mechanism = _arm({"x": "E.x - 5"})
    (note,) = start_notes(mechanism, start_state(mechanism))
    assert "the nearest position misses x by 3.2" in note
    assert np.isfinite(start_state(mechanism)[0]).all()


def _falling_bob(**keys: Any) -> dict[str, Any]:
    """A mass on a rod, in x and z, that falls from beside: what is chosen there does not do straight below."""
    bob = link("bob", "planar", rpy=[np.pi / 2, 0.0, 0.0], position=[1.0, 0.0, 0.0]) | body(
        1.0, inertia=[0.1, 0.1, 0.1]
    )
    rod = {"name": "rod", "type": "distance", "length": 1.0, "a": {"link": "ground"}, "b": {"link": "bob"}}
    simulation = {"stop": 2.0, "output_step": 0.01, "start": "description"} | keys
    return {"schema": 1, "name": "Bob", "links": [bob], "closures": [rod], "simulation": simulation}


def test_where_a_choice_of_coordinates_ends() -> None:
    """The times of the falling bob straight below."""
    pendulum = mechanism_of(_falling_bob())
    start = start_state(pendulum)
    motion = simulate(pendulum)
    quarter = 1.854074677301372 / np.sqrt(9.81)  # of the period from 90°, s
    names = solvability(pendulum, start).dependent
    assert singular_times(pendulum, motion, start, names) == pytest.approx([quarter, 3 * quarter], abs=0.01)
    assert singular_times(pendulum, motion, start, ["bob.y"]) == []


def test_what_the_text_cannot_do_is_said_before_the_build(tmp_path: Path) -> None:
    """Where the text's coordinates end is known by then, whatever becomes of the build."""
    told: list[str] = []
    options = Options(tmp_path, compilers=Compilers((OpenModelica(Omc(str(tmp_path / "nowhere"))),)))
    with pytest.raises(MissingToolError):
        run(prepare(from_data(_falling_bob(stop=0.8))), options, lambda what, fraction: told.append(what))
    assert [text for text in told if "keeps the dependent coordinates of the start, bob.x" in text]
    assert "FMU by openmodelica: starting omc" in told
