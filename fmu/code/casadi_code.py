"""C code of CasADi's functions, without what costs time there, in pieces that compilers take."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import casadi as ca

from ...errors import BuildError
from .stage_derivatives import StageDerivative
from .staged import Staged

_FILES = {"prepare": "start", "start": "start", "dynamics": "dynamics"}  # of the groups; of all others: outputs
_PART = 150  # lines
_PARAMETERS = "const casadi_real** arg, casadi_real** res, casadi_real* restrict w"
_FUNCTION = re.compile(r"^static int (casadi_f\d+)\((.*?)\) \{\n(.*?)^\}\n", re.MULTILINE | re.DOTALL)
_VARIABLE = re.compile(r"\ba(\d+)\b")
_ASSIGNED = re.compile(r" *a(\d+)=")
_READ = re.compile(r"arg\[\d+\]\[\d+\]")
_CHECKED_READ = re.compile(r"arg\[(\d+)\]\? (arg\[\1\]\[\d+\]) : 0")
_CHECKED_RESULT = re.compile(r"if \(res\[(\d+)\]!=0\) (res\[\1\]\[\d+\]=)")


def functions(staged: Staged, derivatives: dict[str, StageDerivative], *, adjoint: bool) -> dict[str, str]:
    """C code of all stages' functions and of their derivatives, by file name; adjoint: reverse ones too.

    Raises BuildError if CasADi writes its code in another way than the versions that this was made for.
    """
    found: dict[str, list[ca.Function]] = {}
    for stage in staged.stages:
        name = f"equations_{_FILES.get(stage.group, 'outputs')}"
        derivative = derivatives.get(stage.function.name())
        found.setdefault(name, []).append(stage.function)
        if derivative is not None:
            found.setdefault(f"{name}_forward", []).append(derivative.forward)
        if derivative is not None and adjoint:
            found.setdefault(f"{name}_reverse", []).append(derivative.reverse)
    return {f"{name}.c": code(name, members) for name, members in found.items()}


def code(name: str, found: Sequence[ca.Function]) -> str:
    """C code of functions whose results are dense, each as a chain of short ones."""
    # the file's name is the begin of those of CasADi's auxiliary functions
    generator = ca.CodeGenerator(f"{name}.c", {"with_header": False, "with_export": False})
    for function in found:
        generator.add(function)
    with TemporaryDirectory() as folder:
        generator.generate(f"{folder}/")
        text = (Path(folder) / f"{name}.c").read_text()
    text, count = _FUNCTION.subn(_in_parts, without_null_checks(text, sum(f.nnz_out() for f in found)))
    _expect("functions", len(found), count)
    return text


def without_null_checks(text: str, results: int) -> str:
    """CasADi lets every argument and result be NULL; here none is, and the checks cost a third of the time."""
    reads = len(_READ.findall(text))
    text, changed_reads = _CHECKED_READ.subn(r"\2", text)
    text, changed_results = _CHECKED_RESULT.subn(r"\2", text)
    _expect("reads of arguments", reads, changed_reads)
    _expect("results", results, changed_results)
    return text


def _in_parts(function: re.Match[str]) -> str:
    """A chain of short functions: what a compiler needs for one grows faster than its length.

    Variables are the parts' own; what a later one reads is kept in the array w.
    """
    name, parameters, body = function.groups()
    *lines, end = [line for line in body.splitlines(keepends=True) if not line.startswith("  casadi_real a")]
    parts = [_Part(lines[i : i + _PART]) for i in range(0, len(lines), _PART)]
    read: set[str] = set()  # by later parts, before they write it
    texts = []
    for k, part in reversed(list(enumerate(parts))):
        texts.append(f"static void {name}_{k}({_PARAMETERS}) {{\n{part.text(read)}}}\n\n")
        read = (read - part.written.keys()) | part.read.keys()
    calls = "".join(f"  {name}_{k}(arg, res, w);\n" for k in range(len(parts)))
    return "".join([*reversed(texts), f"static int {name}({parameters}) {{\n{calls}{end}}}\n"])


class _Part:
    """Some lines of a function.

    read     variable → line that reads it, if none here has written it before
    written  variable → last line that writes it
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self.read: dict[str, int] = {}
        self.written: dict[str, int] = {}
        for position, line in enumerate(lines):
            assigned, variables = _ASSIGNED.match(line), _VARIABLE.findall(line)
            for variable in variables[1:] if assigned else variables:
                if variable not in self.written:
                    self.read.setdefault(variable, position)
            if assigned:
                self.written[assigned[1]] = position

    def text(self, wanted: Container[str]) -> str:
        """With reads of what other parts have written, and writes of what others want."""
        before, after = ([""] * len(self._lines) for _ in range(2))
        for variable, position in self.read.items():
            before[position] += f"  a{variable}=w[{int(variable)}];\n"
        for variable, position in self.written.items():
            if variable in wanted:
                after[position] += f"  w[{int(variable)}]=a{variable};\n"
        own = ", ".join(f"a{variable}" for variable in dict.fromkeys([*self.read, *self.written]))
        declared = f"  casadi_real {own};\n" if own else ""
        return declared + "".join(chain.from_iterable(zip(before, self._lines, after, strict=True)))


def _expect(what: str, expected: int, found: int) -> None:
    if found != expected:
        raise BuildError(
            f"CasADi {version('casadi')} writes C in a way that is not known here: of {expected} {what}, {found}"
            " look as they did; install a version that the package asks for: pip install 'casadi>=3.6.5,<3.9'"
        )
