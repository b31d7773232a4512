"""The generated C against the contract it is made for, and against the CasADi that writes it."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from helpers_backends import driven
from helpers_c_layer import SOURCES, STRICT, compile_c, compiler
from helpers_projection import ON

from gpmelica.errors import BuildError
from gpmelica.fmu.backends import native
from gpmelica.fmu.code import casadi_code
from gpmelica.generator.description.load import from_data
from gpmelica.generator.program.program import Parameter
from gpmelica.prepared import prepare

STRUCTS = ("LinearSystem", "ConstrainedSystem", "TreeSystem", "StageDerivative", "Stage", "StageGroup", "Variable")
STRUCTS = (*STRUCTS, "Equations")


@pytest.fixture(scope="module")
def tables() -> list[str]:
    """Of the driven pendulum, by recursion, and with a task that is there twice and a projection: all systems."""
    task = "cart.position + 0.3*sin(rod.angle) - start(cart.position + 0.3*sin(rod.angle)) - 0.1*t^3"
    rows = [{"name": "task", "expression": task}, {"name": "again", "expression": f"2*({task})"}]
    rules = {"redundant": "minimum_norm", **ON}
    recursion = {"simulation": {"accelerations": "recursion"}}
    changes = ({}, recursion, {"programmed": rows, "constraints": rules})
    models = [prepare(from_data(driven() | more)) for more in changes]
    return [native.generate(m.native_program, m.chain, "3.0").files["equations_data.c"] for m in models]


def _members(struct: str) -> list[str]:
    header = re.sub(r"/\*.*?\*/", "", (SOURCES / "core" / "equations.h").read_text(), flags=re.DOTALL)
    body = re.search(rf"typedef struct \{{([^{{}}]*)\}} {struct};", header)
    assert body is not None
    return re.findall(r"(\w+)(?:\[\w+\])?[,;]", body[1])


@pytest.mark.parametrize("struct", STRUCTS)
def test_every_member_is_given(tables: list[str], struct: str) -> None:
    """What the contract declares the generated part fills, by name."""
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
        line = [
            *cc,
            *STRICT[:5],
            f"-I{tmp_path}",
            f"-I{SOURCES / 'algebra'}",
            "-fsyntax-only",
            str(tmp_path / "data.c"),
        ]
        codes.append(subprocess.run(line, capture_output=True, check=False).returncode)
    assert codes[0] == 0
    assert codes[1] != 0


def test_flags_are_of_files_that_there_are() -> None:
    """What is compiled with other flags is named as it is written; where it is long, with less effort."""
    model = prepare(from_data(driven()))
    files = native.generate(model.native_program, model.chain, "3.0").files
    flags = native.flags(files)
    assert {name for name in files if re.fullmatch(r"equations_.*\.c", name)} == {*flags, native.DATA}
    long = native.flags({name: text + " " * 1_000_000 for name, text in files.items()})
    parts = ("", "_forward", "_reverse")
    assert {name for name in long if long[name] != flags[name]} == {f"equations_dynamics{p}.c" for p in parts}


def test_casadi_that_writes_otherwise_is_refused() -> None:
    """Its null checks are taken out by their look: one that looks different is an error with CasADi's version."""
    x = ca.SX.sym("x", 2)
    f = ca.Function("f", [x], [ca.vertcat(x[0] * x[1], x[0])])
    code = casadi_code.code("functions", [f])
    assert "arg[0][1]" in code
    assert "arg[0]?" not in code
    assert "res[0]!=0" not in code
    known = "w[0]=arg[0]? arg[0][0] : 0;\nif (res[0]!=0) res[0][0]=w[0];\n"
    assert casadi_code.without_null_checks(known, 1) == "w[0]=arg[0][0];\nres[0][0]=w[0];\n"
    version = re.escape(ca.__version__)
    for other, results in ((known.replace("]? ", "] ? "), 1), (known.replace("!=0", "!=NULL"), 1), (known, 2)):
        with pytest.raises(BuildError, match=f"CasADi {version} writes C .* install"):
            casadi_code.without_null_checks(other, results)


_CALL = """
void call(const double *at, double *found, double *work) {
    const double *arg[] = {at};
    double *res[] = {found};
    casadi_f0(arg, res, 0, work, 0);
}
"""


def test_code_in_parts_is_that_of_one(tmp_path: Path) -> None:
    """Functions cut into short ones, with what crosses the cuts in an array, give the bits of CasADi's own."""
    cc = compiler()
    if cc is None:
        pytest.skip("no C compiler: CC, cc, gcc, clang and ziglang are missing")
    rng, x = np.random.default_rng(1), ca.SX.sym("x", 40)
    known = ca.vertsplit(x)
    for far, near, kind in zip(*rng.integers(0, 2**16, (2, 2000)), rng.integers(0, 4, 2000), strict=True):
        left, right = known[far % len(known)], known[-1 - near % 40]
        known.append([left + right, left * right, ca.fabs(left - right), ca.fmin(left, right)][kind])
    f = ca.Function("f", [x], [ca.vertcat(*known[-100:])])
    code = casadi_code.code("parts", [f])
    assert code.count("static void casadi_f0_") > 5
    (tmp_path / "parts.c").write_text(code + _CALL)
    library = compile_c([*cc, "-w", "-shared", "-fPIC"], tmp_path / "parts.so", [tmp_path / "parts.c"])
    at, found, work = rng.uniform(-1.0, 1.0, 40), np.empty(100), np.empty(f.sz_w())
    ctypes.CDLL(str(library)).call(*(array.ctypes.data_as(ctypes.c_void_p) for array in (at, found, work)))
    np.testing.assert_array_equal(found, np.array(f(at)).ravel())
    assert np.isfinite(found).all()


def test_parameters_are_numbers_or_vectors() -> None:
    """A matrix has no order of its elements that all backends share."""
    with pytest.raises(ValueError, match=r"inertia has the shape \(3, 3\)"):
        Parameter("inertia", np.eye(3), "kg.m2", "")
