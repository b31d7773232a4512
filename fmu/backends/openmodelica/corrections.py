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

    If a parameter sets the initial value of a state, omc's FMI 3.0 export writes `exact` for this
    state, but no start value. The standard forbids this combination, and importers reject it. omc's
    FMI 2.0 export uses `calculated`.
    """
    return _STARTLESS.sub(r'\1calculated"', text)


def _without_completion(text: str) -> str:
    """Remove the request for completedIntegratorStep calls if the FMU has no event indicators.

    In this call, omc's code evaluates outputs and assertions. Variables on which the derivatives
    depend are not evaluated, but keep the values of the solver's last request. Assertions would
    therefore combine two different times and fail. Without the call, assertions are evaluated with
    the outputs, at a single time. FMUs with event indicators require the call, because only this
    call makes omc's code update the outputs after fmi2GetEventIndicators.
    """
    if _INDICATOR.search(text):
        return text
    for wrong, right in _COMPLETION.items():
        text = text.replace(wrong, right)
    return text
