"""A slip of omc's export to FMI 3.0, put right."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

_DESCRIPTION = "modelDescription.xml"
_STARTLESS = re.compile(r'(<Float64 (?![^>]*\bstart=)[^>]*\binitial=")(?:exact|approx)"')


def with_valid_initials(fmu: Path) -> bytes:
    """The file, with states that start at a parameter's value declared as calculated.

    omc's FMI 3.0 export says `exact` of them and gives no start value, which the standard forbids and importers
    refuse; its FMI 2.0 export says `calculated`.
    """
    with zipfile.ZipFile(fmu) as archive:
        text = archive.read(_DESCRIPTION).decode("utf-8")
        found = _STARTLESS.sub(r'\1calculated"', text)
        if found == text:
            return fmu.read_bytes()
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as corrected:
            for entry in archive.infolist():
                data = found.encode() if entry.filename == _DESCRIPTION else archive.read(entry)
                corrected.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
