"""The OpenModelica backend: the generated Modelica, compiled into an FMU by `omc`.

`find` an omc, `build` an FMU with it. omc is driven through OMPython, or by scripts where omc gives no session.
"""

from __future__ import annotations

from .build import TIMEOUT as TIMEOUT
from .build import BuildOutcome as BuildOutcome
from .build import build as build
from .errors import OmcDied as OmcDied
from .errors import OmcError as OmcError
from .errors import OmcTimeout as OmcTimeout
from .installation import Omc as Omc
from .installation import find as find
