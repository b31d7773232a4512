"""C source files with the CasADi functions of all evaluation stages and their derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from . import rolled
from .stage_derivatives import StageDerivative
from .staged import Labels, Staged
from .tape import tape

# Groups of evaluation stages without an entry in this dictionary are written to the C file of the outputs.
_FILES = {"prepare": "start", "start": "start", "dynamics": "dynamics"}
# In a loop with a rising and a falling index, gcc 12 computes addresses as a null pointer plus an index.
# gcc 12 therefore concludes that the loop accesses no memory, and removes the function call.
# Without the pragma, an FMU of the robot talos_full_v2 from example-robot-data had wrong accelerations.
# Unlike a compiler flag, a pragma also protects users who compile an FMU's sources themselves.
HEADER = """\
#include "equations.h"
#include <math.h>

#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("no-delete-null-pointer-checks")
#endif

"""


@dataclass(frozen=True)
class Functions:
    """Generated C code of CasADi functions.

    `files` contains the C source by file name. `work` contains the size of the scratch memory that each
    function needs, in doubles.
    """

    files: Mapping[str, str]
    work: Mapping[str, int]


def functions(staged: Staged, derivatives: Mapping[str, StageDerivative], *, adjoint: bool) -> Functions:
    """Return the C code of all evaluation stages and of their derivatives.

    Parameters
    ----------
    staged : Staged
        Evaluation stages.
    derivatives : mapping
        Derivatives of the stages, by the name of the stage's function.
    adjoint : bool
        Whether the code contains reverse derivatives in addition to forward derivatives.

    Raises
    ------
    BuildError
        If a function contains a CasADi operation without a C template.
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
