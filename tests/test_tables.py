"""Tables from files, in every expression: derivatives, ends, kinks, both derivations, wrong files."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_levels import check_levels
from helpers_problem import evaluate, simulate
from helpers_reference import manipulator, mechanism_of
from helpers_stages import StagedModel
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import DescriptionError, SolveError
from gpmelica.description import load
from gpmelica.description.load import from_data
from gpmelica.description.tables.table import Table
from gpmelica.language import ir, piecewise
from gpmelica.language.expressions import parse
from gpmelica.oracle.expressions.jets import Jet
from gpmelica.oracle.expressions.tables import Lookup
from gpmelica.reference.kinematics.curve import Curve
from gpmelica.reference.kinematics.expression import Instant, compile_tree, stops
from gpmelica.reference.kinematics.jet import constant, plain, variables
from gpmelica.reference.kinematics.segment import Segment

Array = NDArray[np.float64]
TIMES = np.array([0.2, 0.5, 0.6, 1.1, 1.5])
VALUES = np.array([0.3, 0.1, 0.4, 0.9, 0.7])


def write(folder: Path, time: Array = TIMES, value: Array = VALUES) -> str:
    """A file with the columns t and angle."""
    rows = zip(time.tolist(), value.tolist(), strict=True)
    file = folder / "slew.csv"
    file.write_text("t,note,angle\n" + "".join(f"{t!r},x,{x!r}\n" for t, x in rows))
    return str(file)


def table(folder: Path, **keys: Any) -> dict[str, Any]:
    """The table of that file."""
    return {"file": write(folder), "time": "t", "value": "angle"} | keys


# ---- Values -----------------------------------------------------------------------------------------------------


def _pieces(given: Table) -> piecewise.Piecewise:
    """The pieces from which the equations are made."""
    at_rest = given.ends == "rest"
    if given.interpolation == "cubic":
        return piecewise.cubic(*given.points, at_rest=at_rest)
    if given.interpolation == "pchip":
        return piecewise.monotone(*given.points, at_rest=at_rest, kinks=True)
    return piecewise.linear(*given.points, kinks=True)


PCHIP = {"interpolation": "pchip"}


@pytest.mark.parametrize(
    "keys",
    [{}, {"ends": "free"}, {"interpolation": "linear"}, PCHIP, PCHIP | {"ends": "free"}],
    ids=["rest", "free", "linear", "pchip", "free pchip"],
)
def test_the_pieces_of_the_equations_are_the_splines_of_the_reference(
    tmp_path: Path, keys: dict[str, str]
) -> None:
    """Value and two derivatives, at random times inside and beside knots; linear ones beyond the ends, too."""
    given = Table(**table(tmp_path, **keys))
    pieces, curve, rng = _pieces(given), Curve(given), np.random.default_rng(3)
    beyond = 1.0 if given.interpolation == "linear" else 0.0
    for x in [*TIMES, *rng.uniform(TIMES[0] - beyond, TIMES[-1] + beyond, 50)]:
        jet = constant(curve(variables([x], [1.0])[0]), 1)
        piece = ir.constant(pieces.piece(x))
        found = [float(piecewise.derivative(piece, ir.constant(x), order).data) for order in range(3)]
        assert found[0] == pytest.approx(jet.value, abs=1e-14)
        if given.interpolation != "linear":
            assert found[1:] == pytest.approx([jet.rate, jet.second], abs=1e-11)


def test_a_table_that_rests_begins_and_ends_without_a_slope(tmp_path: Path) -> None:
    """The table is constant beyond its ends, where integrators stop because the second derivative jumps."""
    node = compile_tree(parse("table(slew, 2*t - 1)"), {}, None, {"slew": Curve(Table(**table(tmp_path)))})
    begin, end = stops(node)
    assert [begin, end] == pytest.approx([0.6, 1.25])

    def at(t: float, since: float) -> list[float]:
        jet = constant(node.value(Instant({"t": variables([t], [1.0])[0]}, Segment(since))), 1)
        return [jet.value, jet.rate, jet.second]

    assert at(0.1, 0.0) == [0.3, 0.0, 0.0]
    assert at(9.0, end) == [0.7, 0.0, 0.0]
    assert at(begin, begin)[:2] == pytest.approx([0.3, 0.0], abs=1e-14)
    assert at(end, begin)[:2] == pytest.approx([0.7, 0.0], abs=1e-14)
    assert abs(at(begin, begin)[2]) > 1.0
    exact = CubicSpline(TIMES, VALUES, bc_type="clamped")
    assert at(1.0, begin) == pytest.approx([float(2**k * exact(1.0, k)) for k in range(3)])


@pytest.mark.parametrize("ends", ["rest", "free"])
def test_pchip_pieces_are_those_of_the_oracle(tmp_path: Path, ends: str) -> None:
    """The formula of the slopes against SciPy's interpolator of the continued points."""
    given = Table(**table(tmp_path, interpolation="pchip", ends=ends))
    lookup = Lookup({"time": TIMES, "value": VALUES, "interpolation": "pchip", "ends": ends})
    pieces = _pieces(given)
    for x in np.random.default_rng(4).uniform(TIMES[0], TIMES[-1], 50):
        found = lookup(Jet(x, rate=1.0), x)
        piece = ir.constant(pieces.piece(x))
        exact = [float(piecewise.derivative(piece, ir.constant(x), order).data) for order in range(2)]
        assert [found.value, found.rate] == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("at_rest", [True, False], ids=["rest", "free"])
def test_pchip_is_monotone_between_points_and_has_a_continuous_slope(seed: int, at_rest: bool) -> None:
    """No value leaves the range of its two points, and slopes agree from both sides; random points and steps."""
    rng = np.random.default_rng(seed)
    time, values = np.cumsum(rng.uniform(1e-3, 1.0, 12)), np.round(rng.normal(size=12), 1)
    found = piecewise.monotone(time, values, at_rest=at_rest, kinks=True)
    for k, (begin, end) in enumerate(pairwise(time)):
        inside = found(np.linspace(begin, end, 50, endpoint=False))
        way = np.sign(values[k + 1] - values[k])
        assert np.all(way * np.diff([*inside, values[k + 1]]) >= -1e-14)
    step = 1e-7 * np.diff(time).min()
    after, before = (found(time[1:-1] + side * step) for side in (1.0, -1.0))
    curvature = np.abs(found.pieces[:, 3]).max()
    assert (after - values[1:-1]) / step == pytest.approx(
        (values[1:-1] - before) / step, abs=1e-4 + 4.0 * curvature * step
    )


@pytest.mark.parametrize("count", [2, 3])
def test_pchip_through_few_points(count: int) -> None:
    """Two points make a line, or a smooth step if it rests; equal points a constant."""
    time, values = np.arange(float(count)), np.arange(float(count)) ** 2
    free, rests = (piecewise.monotone(time, values, at_rest=rest, kinks=True) for rest in (False, True))
    assert free(time) == pytest.approx(values) and rests(time) == pytest.approx(values)
    assert free.kinks == rests.kinks == (count > 2)
    if count == 2:
        assert free(np.array([0.3])) == pytest.approx([0.3])
        assert rests(np.array([0.3])) == pytest.approx([0.3**2 * (3.0 - 2.0 * 0.3)])
    assert np.ptp(piecewise.monotone(time, 0.0 * time + 2.0, at_rest=False, kinks=True)(time + 0.1)) == 0.0


def test_linear_tables_have_a_stop_at_each_kink(tmp_path: Path) -> None:
    """Integrators stop at each kink and at both ends of a linear table."""
    curve = Curve(Table(**table(tmp_path, interpolation="linear")))
    node = compile_tree(parse("1 + table(slew, t + 1)"), {}, None, {"slew": curve})
    assert sorted(stops(node)) == pytest.approx(TIMES - 1)
    values = [plain(node.value(Instant({"t": t}, Segment(0.0)))) for t in (-2.0, -0.65, 0.25, 3.0)]
    assert values == pytest.approx([1.3, 1.2, 1.825, 1.7])


# ---- In equations -----------------------------------------------------------------------------------------------


def _arm(folder: Path, **changes: Any) -> dict[str, Any]:
    """Two driven links; every place that takes expressions has a table."""
    tables = {"slew": table(folder), "push": table(folder, interpolation="linear")}
    rope = {"name": "rope", "a": {"link": "ground", "point": [0.0, 0.0, 2.0]}, "b": {"link": "lower"}}
    return (
        manipulator(
            tables=tables,
            parameters={"lag": 0.1},
            programmed=[{"name": "height", "expression": "E.z - start(E.z) - 0.1*table(slew, t)*E.x"}],
            motions=[{"name": "lifting", "joint": "upper", "position": "0.4 + table(slew, 1.2*t - lag)^2"}],
            forces=[{"name": "wind", "link": "lower", "force": ["table(push, 2*t)", "0", "table(slew, t + lag)"]}],
            lines=[rope | {"stiffness": 100.0, "damping": 5.0, "rest": "1 + table(slew, t)"}],
            simulation={"stop": 1.5, "output_step": 0.05, "start": "description"},
        )
        | changes
    )


def _eased(folder: Path) -> dict[str, Any]:
    """The arm with a monotone table in a force, a rest length and a constraint on velocities."""
    data = _arm(folder, motions=[])
    data["tables"]["ease"] = table(folder, **PCHIP)
    data["programmed"] = [{"name": "v", "order": 1, "expression": "E.vz - table(ease, t)"}]
    data["forces"][0]["force"][1] = data["lines"][0]["rest"] = "1 + table(ease, 1.1*t)"
    return data


@pytest.mark.parametrize("arm", [_arm, _eased])
def test_both_derivations_agree_everywhere(tmp_path: Path, arm: Callable[[Path], dict[str, Any]]) -> None:
    """Before, between and after knots: the generated equations against the reference."""
    model = assemble_system(from_data(arm(tmp_path)))
    staged, rng = StagedModel(model), np.random.default_rng(7)
    for t in (0.0, 0.15, 0.55, 0.93, 1.3, 1.7):
        q, qd = rng.uniform(-1.0, 1.0, 2), rng.uniform(-1.0, 1.0, 2)
        found, exact = staged(t, q, qd), evaluate(model.mechanism, t, q, qd, start=model.start)
        scale = np.abs(exact.qdd).max()
        assert found.qdd == pytest.approx(exact.qdd, abs=1e-9 * scale)
        efforts = [found.outputs["upper_angle_effort"], found.outputs["lower_angle_effort"]]
        assert efforts == pytest.approx(exact.drive, rel=1e-9)


@pytest.mark.parametrize("ends", ["rest", "free"])
def test_a_table_at_a_fixed_time_is_a_number(tmp_path: Path, ends: str) -> None:
    """In rows, too, whose terms are weighed: 0.3 is what the table begins with."""
    tables = {"slew": table(tmp_path, ends=ends)}
    texts = ["0.1*t^2*(1 + table(slew, lag))", "0.13*t^2"]
    simulation = {"stop": 0.2, "start": "description"}
    keys = {"tables": tables, "parameters": {"lag": 0.2}, "simulation": simulation}
    models = [
        assemble_system(
            from_data(
                manipulator(
                    **keys, motions=[{"name": "m", "joint": "upper", "position": f"start(upper.angle) + {x}"}]
                )
            )
        )
        for x in texts
    ]
    q, qd = models[0].start
    found, exact = (evaluate(m.mechanism, 0.1, q, qd, start=m.start) for m in models)
    assert found.qdd == pytest.approx(exact.qdd, rel=1e-12)
    assert StagedModel(models[0])(0.1, q, qd).qdd == pytest.approx(exact.qdd, rel=1e-10)


@pytest.mark.parametrize("t", [0.4, 0.8, 1.3])
def test_rates_are_those_of_the_constraints(tmp_path: Path, t: float) -> None:
    """Levels of rows by tables are derivatives of each other."""
    check_levels(mechanism_of(_arm(tmp_path)), np.random.default_rng(4), t)


@pytest.mark.slow
def test_free_ends_are_checked_during_runs(tmp_path: Path) -> None:
    """By FMU and text after each step; the reference has no value beyond."""
    data = _arm(tmp_path, motions=[], lines=[], forces=[])
    data["tables"]["slew"] |= {"file": write(tmp_path, TIMES - 0.2), "ends": "free"}
    data["simulation"] |= {"stop": 1.0}
    model = assemble_system(from_data(data))
    (check,) = model.program.checks
    assert check.message == "table slew covers 0 s to 1.3 s, and its argument has left this range at t ="
    assert "abs(time - 0.65) < 0.65" in model.modelica()
    with pytest.raises(SolveError, match=r"height has no value at t = 1\.3"):
        simulate(model.mechanism, start=model.start, stop=2.0)


def test_kinks_in_the_modelica_source_are_those_of_the_table(tmp_path: Path) -> None:
    """At a kink, the time of the next one follows from the end of the piece that begins there."""
    text = str(assemble_system(from_data(_arm(tmp_path))).modelica())
    (following,) = re.findall(r"when time >= pre\(\w+\) then\s+\w+ =\s+(.*?);\s+end when", text, re.DOTALL)
    (function,) = set(re.findall(r"\w+_end(?=\()", following))
    ends = {function: lambda x: min(end for end in TIMES if end > x)}
    times = [float(eval(following, {}, ends | {"time": t})) for t in TIMES[:-1] / 2.0]
    assert times == pytest.approx(TIMES[1:] / 2.0)


def test_long_tables_are_written_once(tmp_path: Path) -> None:
    """5,000 points that are used three times yield one function, whose size is proportional to the
    points.
    """
    time = np.linspace(0.0, 10.0, 5000)
    data = _arm(tmp_path)
    data["tables"] = {
        "slew": {"file": write(tmp_path, time, np.sin(time)), "time": "t", "value": "angle"},
        "push": table(tmp_path, interpolation="linear"),
    }
    write(tmp_path, time, np.sin(time))
    text = assemble_system(from_data(data)).modelica()
    assert text.count("function slew_table") == 1
    assert len(text) < 5000 * 5 * 25 + 5000 * 5 * 25 + 50_000


# ---- Wrong files ------------------------------------------------------------------------------------------------


def _problems(folder: Path, text: str, keys: str = 'time = "t", value = "angle"', more: str = "") -> list[str]:
    (folder / "slew.csv").write_text(text)
    (folder / "arm.toml").write_text(
        f"""schema = 1
name = "Arm"
[tables]
slew = {{ file = "slew.csv", {keys} }}
[[links]]
name = "arm"
parent = "ground"
mass = 1.0
inertia = [1.0, 1.0, 1.0]
joint = {{ type = "revolute", axis = [0.0, 0.0, 1.0] }}
{more}"""
    )
    with pytest.raises(DescriptionError) as caught:
        load(folder / "arm.toml")
    return [str(problem) for problem in caught.value.problems]


GOOD = "t,angle\n0,1\n1,2\n2,2\n3,5\n"
STOP = "[simulation]\nstop = 2.0"
POINT = '[points]\nE = { link = "arm", position = ["table(slew, 0)", 0, 0] }'
MOTION = '[[motions]]\nname = "slewing"\njoint = "arm"\nposition = '
WRONG: dict[str, tuple[tuple[str, ...], list[str]]] = {
    "no number": (
        ("t,angle\n0,1\n1,up\n2,nan\n",),
        [
            "tables.slew.file: slew.csv, line 3: angle: expected a number, got 'up'",
            "tables.slew.file: slew.csv, line 4: angle: expected a number up to 1e12, got nan",
        ],
    ),
    "times go back": (
        ("t,angle\n0,1\n2,1\n1,2\n2,2\n",),
        [
            "tables.slew.time: slew.csv, line 4: expected increasing times, got 1 s after 2 s",
            "tables.slew.time: slew.csv, line 5: expected increasing times, got 2 s after 2 s",
        ],
    ),
    "no column": (
        ("time,angel\n0,1\n1,2\n",),
        [
            "tables.slew.time: slew.csv, line 1: there is no column 't'; known are: time, angel",
            "tables.slew.value: slew.csv, line 1: there is no column 'angle'; did you mean 'angel'?",
        ],
    ),
    "a short line": (
        ("t,angle\n0,1\n1\n2,3\n",),
        ["tables.slew.file: slew.csv, line 3: expected 2 values, one per header, got 1"],
    ),
    "one line": (("t,angle\n0,1\n",), ["tables.slew.file: slew.csv: expected 2 to 10000 lines of numbers, got 1"]),
    "too few for free ends": (
        ("t,angle\n0,1\n1,1\n2,1\n", 'time = "t", value = "angle", ends = "free"'),
        ["tables.slew.file: slew.csv: expected 4 to 10000 lines of numbers, got 3"],
    ),
    "too many": (
        ("t,angle\n" + "".join(f"{i},1\n" for i in range(10_001)),),
        ["tables.slew.file: slew.csv: expected 2 to 10000 lines of numbers, got 10001"],
    ),
    "linear with free ends": (
        (GOOD, 'time = "t", value = "angle", interpolation = "linear", ends = "free"'),
        [
            'tables.slew.ends: ends = "free" is allowed for cubic and pchip interpolation only; beyond its ends, a'
            " linear table keeps its first or last value"
        ],
    ),
    "a motion with kinks": (
        (GOOD, 'time = "t", value = "angle", interpolation = "linear"', f'{MOTION}"table(slew, t)"'),
        [
            "motions[0].position (slewing): the interpolation of table(slew, …) is linear,"
            ' but a motion needs a continuous slope; set interpolation = "cubic"'
        ],
    ),
    "a motion whose acceleration jumps": (
        (GOOD, 'time = "t", value = "angle", interpolation = "pchip"', f'{MOTION}"table(slew, t)"'),
        [
            "motions[0].position (slewing): the interpolation of table(slew, …) is pchip,"
            " but a motion needs a continuous second derivative, because accelerations must not jump;"
            ' set interpolation = "cubic"'
        ],
    ),
    "a constraint on velocities with kinks": (
        (
            GOOD,
            'time = "t", value = "angle", interpolation = "linear"',
            '[[programmed]]\nname = "c"\norder = 1\nexpression = "arm.angle_dot - table(slew, t)"',
        ),
        [
            "programmed[0].expression (c): the interpolation of table(slew, …) is linear,"
            " but a rest length or a constraint on velocities or accelerations needs a continuous slope;"
            ' set interpolation = "pchip" or "cubic"'
        ],
    ),
    "a run beyond free ends": (
        (GOOD, 'time = "t", value = "angle", ends = "free"', f'{MOTION}"table(slew, 2*t)"\n{STOP}'),
        [
            "motions[0].position (slewing): table(slew, …): the run needs 0 to 4 s (simulation.stop), the table"
            ' contains 0 to 3 s; add lines, shorten the run, or set ends = "rest"'
        ],
    ),
    "a table of angles": (
        (GOOD, 'time = "t", value = "angle"', f'{MOTION}"table(slew, start(arm.angle))"'),
        [
            "motions[0].position (slewing): table(slew, …): expected t, or sums and products of t with numbers and"
            " parameters, such as 2*t + lag"
        ],
    ),
    "an unknown table": (
        (GOOD, 'time = "t", value = "angle"', f'{MOTION}"table(sleu, t)"'),
        ["motions[0].position (slewing): there is no table 'sleu'; did you mean 'slew'?"],
    ),
    "a table without a name": (
        (GOOD, 'time = "t", value = "angle"', f'{MOTION}"table(3, t)"'),
        [
            "motions[0].position (slewing): expected the name of a lookup table as first argument, as in"
            " table(slew, t), got '3'"
        ],
    ),
    "a number over time": (
        (GOOD, 'time = "t", value = "angle"', POINT),
        ["points.E.position[0]: 'table(slew, 0)': table(…) changes over time; expected parameters and numbers"],
    ),
    "a motion that follows another joint": (
        (GOOD, 'time = "t", value = "angle"', f'{MOTION}"table(slew, t) + arm.angle_dot"'),
        [
            "motions[0].position (slewing): expected an expression of t and parameters,"
            " got 'arm.angle_dot'; use [[programmed]] instead"
        ],
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_tables(tmp_path: Path, name: str) -> None:
    """All problems at once, with key and line of the file."""
    given, expected = WRONG[name]
    assert _problems(tmp_path, *given) == expected


def test_a_missing_file() -> None:
    """The message contains the path of the missing file."""
    tables = {"slew": {"file": "nowhere/slew.csv", "value": "angle"}}
    with pytest.raises(DescriptionError, match=r"tables.slew.file: there is no file 'nowhere/slew.csv'"):
        from_data(manipulator(tables=tables))
