"""Co-simulation solver inside an FMU that the OpenModelica compiler omc built."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

EULER = "explicit Euler, one step per communication step"
CVODE = "CVODE, variable step, at the experiment's tolerance"
NONE = "none: for model exchange only"


def statement(fmu: Path, name: str, kind: str) -> str:
    """Return a description of the solver in an FMU.

    The description follows from the simulation flags that omc stored in the FMU.

    Raises
    ------
    OSError, zipfile.BadZipFile
        If the file is not a readable archive.
    """
    if "cs" not in kind:
        return NONE
    with zipfile.ZipFile(fmu) as archive:
        flags = f"resources/{name}_flags.json"
        chosen = json.loads(archive.read(flags)).get("s") if flags in archive.namelist() else None
    return CVODE if chosen == "cvode" else EULER
