"""Slips of omc's exports in the model description, put right."""

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
    """The file, with a model description that says what is the case."""
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
    """States that start at a parameter's value are calculated.

    omc's FMI 3.0 export says `exact` of them and gives no start value, which the standard forbids and importers
    refuse; its FMI 2.0 export says `calculated`.
    """
    return _STARTLESS.sub(r'\1calculated"', text)


def _without_completion(text: str) -> str:
    """Without event indicators, no completedIntegratorStep is needed.

    In it omc's code computes what outputs and assertions need beyond the derivatives, but not what these need,
    which is as it was where the solver asked last. Assertions then see two instants at once, and fail. Without
    that call they are judged with the outputs, where all is of one instant. Where there are event indicators the
    call is needed: it alone makes outputs be computed anew after fmi2GetEventIndicators.
    """
    if _INDICATOR.search(text):
        return text
    for wrong, right in _COMPLETION.items():
        text = text.replace(wrong, right)
    return text
