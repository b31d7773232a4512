"""OpenModelica backend, which compiles the generated Modelica model to an FMU with `omc`.

`find` locates an omc, and `build` builds an FMU with this omc. Statements are sent to omc through
OMPython. If omc refuses an interactive session, scripts are used instead.
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
