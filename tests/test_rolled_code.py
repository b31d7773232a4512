"""C of CasADi's functions, with loops for what repeats itself: the bits of CasADi's own evaluation."""

from __future__ import annotations

import ctypes
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from helpers_backends import driven
from helpers_c_layer import SOURCES, STRICT, compile_c, compiler, zig
from helpers_projection import ON
from helpers_urdf import robot
from numpy.typing import NDArray

from gpmelica.analysis.system import assemble_system
from gpmelica.api.exchange import convert_urdf
from gpmelica.core.errors import BuildError
from gpmelica.description.load import from_data
from gpmelica.fmu.backends import native
from gpmelica.fmu.code import casadi_code, loops, tape
from gpmelica.fmu.code.loops import Piece, pieces
from gpmelica.fmu.code.rolled import Code, code
from gpmelica.fmu.code.staged import Label, Labels
from gpmelica.fmu.code.stages import stage
from gpmelica.fmu.code.tape import Tape
from gpmelica.generator.program.program import ModelParameter

LABELS = Labels([Label.of("slow", [("slow", 160)])], [Label("results")])  # ends like the name of the array w


@pytest.fixture
def run(tmp_path: Path) -> Callable[[ca.Function, Code], None]:
    """Compiles the code of a function as that of FMUs is, and calls it at random arguments: the bits of CasADi."""
    cc = compiler()
    if cc is None:
        pytest.skip("no C compiler: CC, cc, gcc, clang and ziglang are missing")

    def call(f: ca.Function, made: Code) -> None:
        (tmp_path / "f.c").write_text(f"{casadi_code.HEADER}StageFunction {f.name()};\n{made.text}")
        flags = ["-O2", f"-I{SOURCES / 'core'}", "-shared", "-fPIC"]
        library = ctypes.CDLL(str(compile_c([*cc, *flags], tmp_path / "f.so", [tmp_path / "f.c"])))
        rng = np.random.default_rng(1)
        at = [rng.uniform(-1.0, 1.0, f.numel_in(i)) for i in range(f.n_in())]
        found = [np.full(f.numel_out(i), np.nan) for i in range(f.n_out())]
        work = np.full(made.work + 1, np.nan)
        getattr(library, f.name())(_pointers(*at), _pointers(*found), ctypes.c_void_p(work.ctypes.data))
        assert np.isnan(work[-1])  # no more than it has asked for
        expected = f.call([ca.reshape(x, *f.size_in(i)) for i, x in enumerate(map(ca.DM, at))])
        for mine, his in zip(found, expected, strict=True):
            assert np.isfinite(mine).all()
            np.testing.assert_array_equal(mine, np.array(his).ravel(order="F"))

    return call


def _pointers(*arrays: NDArray[np.float64]) -> Any:
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))


def _made(x: ca.SX, *results: ca.SX) -> tuple[ca.Function, Tape, Code]:
    f = tape.with_own_registers("f", [x], [ca.densify(ca.vertcat(*results))])
    found = tape.tape(f)
    return f, found, code(found, "f", LABELS, "Stage: test.")


@pytest.mark.slow
def test_straight_code(run: Callable[..., Any]) -> None:
    """A random graph without repetitions, cut into short functions with what crosses the cuts in an array."""
    rng, x = np.random.default_rng(1), ca.SX.sym("x", 40)
    known = ca.vertsplit(x)
    for far, near, kind in zip(*rng.integers(0, 2**16, (2, 2000)), rng.integers(0, 4, 2000), strict=True):
        left, right = known[far % len(known)], known[-1 - near % 40]
        known.append([left + right, left * right, ca.fabs(left - right), ca.fmin(left, right)][kind])
    f, _, made = _made(x, *known[-100:])
    assert made.text.count("static void f_") > 5
    run(f, made)


@pytest.mark.parametrize("length", [40, 80])
def test_a_chain_is_a_loop(run: Callable[..., Any], length: int) -> None:
    """Each element takes from the one before and gives to the next; a way back from the tip uses it again."""
    x = ca.SX.sym("x", 2 * length)
    c, s, ways = ca.SX(1), ca.SX(0), []
    for k in range(length):
        turn, pull = ca.sin(x[2 * k]), ca.cos(x[2 * k]) * x[2 * k + 1]
        c, s = c * pull - s * turn, s * pull + c * turn + 0.5
        ways.append((c, s, turn))
    total, forces = ca.SX(0), []
    for c, s, turn in reversed(ways):
        total = total * turn + c * s
        forces.append(total)
    f, found, made = _made(x, *forces, *(c for c, _, _ in ways))
    assert len(found.codes) > 10 * length
    assert made.text.count("\n") < 200  # whatever the length
    assert made.text.count("for (int i") >= 2
    run(f, made)


def test_a_tree_takes_indices_from_tables(run: Callable[..., Any]) -> None:
    """Loops use index tables if the parents' numbers are not multiples of the iteration number."""
    rng, x = np.random.default_rng(2), ca.SX.sym("x", 60)
    found = [ca.sin(x[k]) for k in range(60)]
    for k in range(1, 60):
        found[k] = found[k] * x[k] + ca.cos(found[rng.integers(0, k)]) * x[k - 1]
    f, _, made = _made(x, *found)
    assert "at[i][" in made.text
    run(f, made)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_random_repetitions(run: Callable[..., Any], seed: int) -> None:
    """Blocks of random operations again and again, on what is near and far, between random ones that come once."""
    rng = np.random.default_rng(seed)
    x = ca.SX.sym("x", 30)
    known, results = ca.vertsplit(x), []
    operations = (
        lambda a, b: a + b,
        lambda a, b: a * b - 0.25,
        lambda a, b: ca.if_else(a < b, a, -b),
        lambda a, b: ca.fmax(a, -0.5) / (2.0 + ca.cos(b)),
        lambda a, b: ca.sign(a) * ca.tanh(b),
    )
    for _ in range(5):
        count, lines = rng.integers(1, 20), rng.integers(5, 30)
        kinds, backs = rng.integers(0, len(operations), lines), rng.integers(1, 40, (lines, 2))
        drift = rng.integers(0, 2)
        for i in range(count):
            for kind, (near, far) in zip(kinds, backs, strict=True):
                known.append(operations[kind](known[-near % len(known)], known[-(far + drift * i) % len(known)]))
            results += known[-lines:]
    f, _, made = _made(x, *results)
    assert "for (int i" in made.text
    run(f, made)


def test_results_that_are_arguments_constants_or_the_same(run: Callable[..., Any]) -> None:
    """Nothing has to be computed for them; a value may be several results, and be read again afterwards."""
    x = ca.SX.sym("x", 40)
    rows = [row for k in range(40) for row in (x[k], ca.SX(-1.5), x[k] * x[k], x[k] * x[k], ca.SX(0))]
    run(*_made(x, *rows, *(ca.sqrt(x[k] * x[k]) for k in reversed(range(40))))[::2])


@pytest.mark.slow
def test_a_humanoid(run: Callable[..., Any]) -> None:
    """The loops access memory in rising and falling order; gcc 12 would omit calls of such functions."""
    found = convert_urdf(robot("talos_full_v2.urdf"), "floating")
    staged = stage(assemble_system(from_data(tomllib.loads(found.text))).native_program)
    f = next(s.function for s in staged.stages if s.group == "dynamics")
    read = Labels([Label(f"read_{i}") for i in range(f.n_in())], [Label(f"made_{i}") for i in range(f.n_out())])
    made = code(tape.tape(f), f.name(), read, "Stage: test.")
    assert "*i]" in made.text
    run(f, made)


@pytest.mark.parametrize("seed", range(20))
def test_pieces_are_all_lines_once_in_their_order(seed: int) -> None:
    """Loops are of lines of the same kinds; no piece is longer than compilers like."""
    rng, kinds = np.random.default_rng(seed), []
    for _ in range(10):
        kinds += list(rng.integers(0, 4, rng.integers(1, 90))) * int(rng.integers(1, 12))
    found = pieces(np.array(kinds))
    assert [piece.start for piece in found] == [0, *(piece.end for piece in found[:-1])]
    assert found[-1].end == len(kinds)
    for piece in found:
        rounds = np.reshape(kinds[piece.start : piece.end], (piece.rounds, piece.period))
        assert (rounds == rounds[0]).all()
        assert piece.period <= max(loops._LINES, loops._PERIOD)
    assert sum(piece.saved for piece in found) > len(kinds) / 2


def test_comments_name_inputs_and_outputs() -> None:
    """Indices of blocks and elements are accompanied by the names of states and outputs."""
    model = assemble_system(from_data(driven()))
    files = native.generate(model.native_program, model.chain, "3.0").files
    program = model.native_program
    states, outputs = [state.variable for state in program.states], [output.name for output in program.outputs]
    read = re.findall(r"= arg\[STATES\]\[(\d+)\]; /\* (\w+) \*/", files["equations_dynamics.c"])
    written = re.findall(r" res\[OUTPUTS\]\[(\d+)\] = \w+; /\* (\w+) \*/", files["equations_outputs.c"])
    assert read and all(states[int(k)] == name for k, name in read)
    assert [name for _, name in written] == [outputs[int(k)] for k, _ in written]
    assert {int(k) for k, _ in written} == set(range(len(outputs)))
    for name in ("equations_dynamics.c", "equations_outputs_forward.c", "equations_outputs_reverse.c"):
        assert not re.search(r"(arg|res)\[\d", files[name])
        assert re.search(r"^/\* (Stage|Changes of stage|Adjoints of stage): \w+\. \*/$", files[name], re.MULTILINE)


def test_functions_without_operations() -> None:
    """Functions without operations have no pieces."""
    assert pieces(np.zeros(0, int)) == []
    assert pieces(np.zeros(1, int)) == [Piece(0, 1, 1)]


def test_values_some_of_which_are_results(run: Callable[..., Any]) -> None:
    """A loop reads all operands from one array, also if some of them are results."""
    x = ca.SX.sym("x", 40)
    known = [ca.sin(x[k]) for k in range(40)]
    f, _, made = _made(x, *known[::2], ca.sum1(ca.vertcat(*known[1::2])), *(ca.cos(each) for each in known))
    assert "for (int i = 0; i < 40; i++)" in made.text
    run(f, made)


def test_numbers_may_be_conditions(tmp_path: Path) -> None:
    """Clang, which ziglang is, warns of literals that C takes for true."""
    if (cc := zig()) is None:
        pytest.skip("needs ziglang")
    x = ca.SX.sym("x")
    _, found, made = _made(x, ca.logic_and(x, 2.5), ca.logic_or(-1.5, x), ca.if_else(x, 0.5, x), ca.logic_not(x))
    assert any("2.5" in operator for operator in found.operators)
    (tmp_path / "f.c").write_text(f"void f(const double **arg, double **res, double *w);\n{made.text}")
    compile_c([*cc, "-c"], tmp_path / "f.o", [tmp_path / "f.c"])


def test_an_operation_that_is_not_known_is_refused() -> None:
    """With its name and CasADi's version."""
    x = ca.SX.sym("x")
    f = tape.with_own_registers("f", [x], [ca.erfinv(x)])
    with pytest.raises(BuildError, match=rf"CasADi {ca.__version__} .* OP_ERFINV.*install"):
        tape.tape(f)


def test_registers_that_are_used_again_are_refused() -> None:
    """Registers identify the operations of a tape, so a tape that reuses registers is rejected."""
    x = ca.SX.sym("x")
    with pytest.raises(ValueError, match="f reuses registers"):
        tape.tape(ca.Function("f", [x], [ca.sin(ca.cos(x))]))


# ---- The generated C against the contract that it is made for ---------------------------------------------------


STRUCTS = ("LinearSystem", "ConstrainedSystem", "TreeSystem", "StageDerivative", "Stage", "StageGroup", "Variable")
STRUCTS = (*STRUCTS, "Equations")


@pytest.fixture(scope="module")
def tables() -> list[str]:
    """Return all systems of equations: a driven pendulum by recursion, a doubled constraint, and a projection."""
    task = "cart.position + 0.3*sin(rod.angle) - start(cart.position + 0.3*sin(rod.angle)) - 0.1*t^3"
    rows = [{"name": "task", "expression": task}, {"name": "again", "expression": f"2*({task})"}]
    rules = {"redundant": "minimum_norm", **ON}
    recursion = {"simulation": {"accelerations": "recursion"}}
    changes = ({}, recursion, {"programmed": rows, "constraints": rules})
    models = [assemble_system(from_data(driven() | more)) for more in changes]
    return [native.generate(m.native_program, m.chain, "3.0").files["equations_data.c"] for m in models]


def _members(struct: str) -> list[str]:
    header = re.sub(r"/\*.*?\*/", "", (SOURCES / "core" / "equations.h").read_text(), flags=re.DOTALL)
    body = re.search(rf"typedef struct \{{([^{{}}]*)\}} {struct};", header)
    assert body is not None
    return re.findall(r"(\w+)(?:\[\w+\])?[,;]", body[1])


@pytest.mark.parametrize("struct", STRUCTS)
def test_every_structure_member_is_initialised(tables: list[str], struct: str) -> None:
    """The generated C tables initialise every member that the header declares, by name."""
    members = _members(struct)
    assert len(members) >= 2
    assert [name for name in members if f".{name} =" not in "".join(tables)] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SETTING_PROJECTION_TOLERANCE,", "SETTING_PROJECTION_TOLERANCE, SETTING_MORE,"),
        ("COUNTER_PROJECTIONS,", ""),
        ("GROUP_VIOLATIONS,", "GROUP_VIOLATIONS, GROUP_MORE,"),
        ("int event_times;", "int event_times, more;"),
        ("int pivots;", "int pivots, more;"),
        ("int right;", "int rhs;"),
        ("VARIABLE_CORRECTION,", "VARIABLE_CORRECTED,"),
    ],
)
def test_a_contract_that_differs_does_not_compile(tables: list[str], tmp_path: Path, old: str, new: str) -> None:
    """An enumerator or a member more, fewer or with another name is the compiler's error."""
    cc = compiler()
    if cc is None:
        pytest.skip("no C compiler: CC, cc, gcc, clang and ziglang are missing")
    (tmp_path / "data.c").write_text(tables[-1])
    header = (SOURCES / "core" / "equations.h").read_text()
    assert old in header
    codes = []
    for text in (header, header.replace(old, new, 1)):
        (tmp_path / "equations.h").write_text(text)
        folders = [f"-I{tmp_path}", f"-I{SOURCES / 'algebra'}"]
        line = [*cc, *STRICT[:5], *folders, "-fsyntax-only", str(tmp_path / "data.c")]
        codes.append(subprocess.run(line, capture_output=True, check=False).returncode)
    assert codes[0] == 0
    assert codes[1] != 0


def test_flags_are_of_files_that_there_are() -> None:
    """Every file with special compiler flags exists; long files are compiled with less optimisation."""
    model = assemble_system(from_data(driven()))
    files = native.generate(model.native_program, model.chain, "3.0").files
    flags = native.flags(files)
    assert (
        {name for name in files if name.startswith("equations_")} - {native.DATA} <= flags.keys() <= files.keys()
    )
    long = native.flags({name: text + " " * 2_000_000 for name, text in files.items()})
    parts = ("", "_forward", "_reverse")
    assert {name for name in long if long[name] != flags[name]} == {f"equations_dynamics{p}.c" for p in parts}


def test_parameters_are_numbers_or_vectors() -> None:
    """A matrix has no order of its elements that all backends share."""
    with pytest.raises(ValueError, match=r"inertia has the shape \(3, 3\)"):
        ModelParameter("inertia", np.eye(3), "kg.m2", "")
