"""Solver of omc's co-simulation FMUs between two communication points."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

EULER = "explicit Euler, one step per communication step"
CVODE = "CVODE, variable step, at the experiment's tolerance"
NONE = "none: for model exchange only"


def statement(fmu: Path, name: str, kind: str) -> str:
    """The solver inside an FMU, by the flags that omc has packed for it.

    Raises OSError or zipfile.BadZipFile if the file is no FMU.
    """
    if "cs" not in kind:
        return NONE
    with zipfile.ZipFile(fmu) as archive:
        flags = f"resources/{name}_flags.json"
        chosen = json.loads(archive.read(flags)).get("s") if flags in archive.namelist() else None
    return CVODE if chosen == "cvode" else EULER
