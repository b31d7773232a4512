"""The OpenModelica backend: the generated Modelica, compiled into an FMU by `omc`.

`find` an omc, `build` an FMU with it. omc is driven through OMPython, or by scripts where omc gives no session.
"""

from __future__ import annotations

from .build import TIMEOUT, BuildOutcome, build
from .errors import OmcDied, OmcError, OmcTimeout
from .installation import Omc, find

__all__ = [
    "TIMEOUT",
    "BuildOutcome",
    "Omc",
    "OmcDied",
    "OmcError",
    "OmcTimeout",
    "build",
    "find",
]
