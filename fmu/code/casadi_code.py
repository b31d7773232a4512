"""C code of CasADi's functions: those of all stages and of their derivatives, in files that are compiled alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from . import rolled
from .stage_derivatives import StageDerivative
from .staged import Labels, Staged
from .tape import tape

_FILES = {"prepare": "start", "start": "start", "dynamics": "dynamics"}  # of the groups; of all others: outputs
# gcc 12 writes addresses in loops whose indices go up and down as null plus an index, takes such an access for one
# that never happens, the function for one without effects, and leaves its call out: talos_full_v2 of
# example-robot-data had wrong accelerations. Here and not among our flags, for those who compile an FMU's sources.
HEADER = """\
#include "equations.h"
#include <math.h>

#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("no-delete-null-pointer-checks")
#endif

"""


@dataclass(frozen=True)
class Functions:
    """C code by file name, and the doubles that each function works with."""

    files: Mapping[str, str]
    work: Mapping[str, int]


def functions(staged: Staged, derivatives: Mapping[str, StageDerivative], *, adjoint: bool) -> Functions:
    """C code of all stages and of their forward derivatives; adjoint: of reverse derivatives, too.

    Raises BuildError if CasADi has an operation that is not known here.
    """
    found: dict[str, list[tuple[str, rolled.Code]]] = {}
    for stage in staged.stages:
        name = f"equations_{_FILES.get(stage.group, 'outputs')}"
        derivative = derivatives.get(stage.function.name())
        read = staged.read(stage.inputs)
        made = [("", stage.function, f"Stage: {stage.name}.", Labels(read, stage.labels))]
        if derivative is not None:
            values, origin = staged.read(derivative.values), [x.change for x in staged.read(derivative.origin)]
            labels = Labels([*values, *origin], derivative.changes)
            made.append(("_forward", derivative.forward, f"Changes of stage: {stage.name}.", labels))
        if derivative is not None and adjoint:
            labels = Labels([*values, *derivative.changes], origin)
            made.append(("_reverse", derivative.reverse, f"Adjoints of stage: {stage.name}.", labels))
        for suffix, function, title, labels in made:
            code = rolled.code(tape(function), function.name(), labels, title)
            found.setdefault(f"{name}{suffix}", []).append((function.name(), code))
    return Functions(
        {f"{name}.c": HEADER + "\n".join(code.text for _, code in codes) for name, codes in found.items()},
        {name: code.work for codes in found.values() for name, code in codes},
    )
