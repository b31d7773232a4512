"""C code of CasADi's functions, without what costs time there, in pieces that compilers take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import casadi as ca

from ...errors import BuildError
from .stage_derivatives import StageDerivative
from .staged import Staged

_PART = 300  # lines
_PARAMETERS = "const casadi_real** arg, casadi_real** res, casadi_real* restrict w"
_FUNCTION = re.compile(r"^static int (casadi_f\d+)\((.*?)\) \{\n(.*?)^\}\n", re.MULTILINE | re.DOTALL)
_READ = re.compile(r"arg\[\d+\]\[\d+\]")
_CHECKED_READ = re.compile(r"arg\[(\d+)\]\? (arg\[\1\]\[\d+\]) : 0")
_CHECKED_RESULT = re.compile(r"if \(res\[(\d+)\]!=0\) (res\[\1\]\[\d+\]=)")


def functions(staged: Staged, derivatives: dict[str, StageDerivative], *, adjoint: bool) -> dict[str, str]:
    """C code of all stages' functions and of their derivatives, by file name; adjoint: reverse ones too.

    Raises BuildError if CasADi writes its code in another way than the versions that this was made for.
    """
    found = {
        "equations_functions.c": code("functions", [stage.function for stage in staged.stages]),
        "equations_forward.c": code("forward", [each.forward for each in derivatives.values()], in_parts=True),
    }
    if adjoint:
        reverse = [each.reverse for each in derivatives.values()]
        found["equations_reverse.c"] = code("reverse", reverse, in_parts=True)
    return found


def code(name: str, found: Sequence[ca.Function], *, in_parts: bool = False) -> str:
    """C code of functions whose results are dense; in_parts: each as a chain of short ones."""
    # the file's name is the begin of those of CasADi's auxiliary functions; parts need their variables in an array
    options = {"with_header": False, "with_export": False, "avoid_stack": in_parts}
    generator = ca.CodeGenerator(f"{name}.c", options)
    for function in found:
        generator.add(function)
    with TemporaryDirectory() as folder:
        generator.generate(f"{folder}/")
        text = (Path(folder) / f"{name}.c").read_text()
    text = without_null_checks(text, sum(f.nnz_out() for f in found))
    return _cut(text, len(found)) if in_parts else text


def without_null_checks(text: str, results: int) -> str:
    """CasADi lets every argument and result be NULL; here none is, and the checks cost a third of the time."""
    reads = len(_READ.findall(text))
    text, changed_reads = _CHECKED_READ.subn(r"\2", text)
    text, changed_results = _CHECKED_RESULT.subn(r"\2", text)
    _expect("reads of arguments", reads, changed_reads)
    _expect("results", results, changed_results)
    return text


def _cut(text: str, count: int) -> str:
    """What a compiler needs for a function grows faster than its length."""
    text, found = _FUNCTION.subn(_in_parts, text)
    _expect("functions", count, found)
    return text


def _in_parts(function: re.Match[str]) -> str:
    name, parameters, body = function.groups()
    *lines, end = body.splitlines(keepends=True)
    parts = ["".join(lines[i : i + _PART]) for i in range(0, len(lines), _PART)]
    texts = [f"static void {name}_{k}({_PARAMETERS}) {{\n{part}}}\n\n" for k, part in enumerate(parts)]
    calls = "".join(f"  {name}_{k}(arg, res, w);\n" for k in range(len(parts)))
    return "".join([*texts, f"static int {name}({parameters}) {{\n{calls}{end}}}\n"])


def _expect(what: str, expected: int, found: int) -> None:
    if found != expected:
        raise BuildError(
            f"CasADi {version('casadi')} writes C in a way that is not known here: of {expected} {what}, {found}"
            " look as they did; install a version that the package asks for: pip install 'casadi>=3.6.5,<3.9'"
        )
