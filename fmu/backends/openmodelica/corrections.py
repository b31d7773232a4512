"""Corrections of errors in model descriptions that the OpenModelica compiler omc exports."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

_DESCRIPTION = "modelDescription.xml"
_STARTLESS = re.compile(r'(<Float64 (?![^>]*\bstart=)[^>]*\binitial=")(?:exact|approx)"')
_INDICATOR = re.compile(r'numberOfEventIndicators="[1-9]|<EventIndicator ')
_COMPLETION = {
    'completedIntegratorStepNotNeeded="false"': 'completedIntegratorStepNotNeeded="true"',
    'needsCompletedIntegratorStep="true"': 'needsCompletedIntegratorStep="false"',
}


def corrected(fmu: Path) -> bytes:
    """Return the content of an FMU file with a corrected model description."""
    with zipfile.ZipFile(fmu) as archive:
        text = archive.read(_DESCRIPTION).decode("utf-8")
        found = _without_completion(_with_valid_initials(text))
        if found == text:
            return fmu.read_bytes()
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as written:
            for entry in archive.infolist():
                data = found.encode() if entry.filename == _DESCRIPTION else archive.read(entry)
                written.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _with_valid_initials(text: str) -> str:
    """Set the attribute `initial` of variables without a start value to `calculated`.

    For a state whose initial value depends on a parameter, omc's FMI 3.0 export writes `exact`, but no
    start value. The standard forbids this combination, and importers reject it. omc's FMI 2.0 export
    uses `calculated`.
    """
    return _STARTLESS.sub(r'\1calculated"', text)


def _without_completion(text: str) -> str:
    """Remove the request for completedIntegratorStep calls if the FMU has no event indicators.

    During this call, omc's code evaluates assertions at the new time. However, variables on which the
    derivatives depend still have their values from an earlier evaluation. An assertion can then fail
    although no state violates it. Without the call, omc's code evaluates assertions together with the
    outputs, so that all values belong to the same time. FMUs with event indicators require the call:
    otherwise omc's code does not update the outputs after fmi2GetEventIndicators.
    """
    if _INDICATOR.search(text):
        return text
    for wrong, right in _COMPLETION.items():
        text = text.replace(wrong, right)
    return text
