"""Problems of an FMU's archive and modelDescription.xml, found by FMPy."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from fmpy.model_description import ValidationError, read_model_description
from fmpy.validation import validate_fmu

# FMI 2.0, 2.2.9: names of the convention "structured". FMPy parses them by the standard's grammar, ambiguous as
# it stands, and takes most of a build's time; the same language is a regular one.
_QUOTED = r"""'(?:[\w!#$%&()*+,\-./:;<>=?@\[\]^{}|~ ]|\\['"?\\abfnrtv])+'"""
_ONE = rf"(?:[A-Za-z_]\w*|{_QUOTED})(?:\[\d+(?:,\d+)*\])?"
_NAME = re.compile(rf"{_ONE}(?:\.{_ONE})*|der\({_ONE}(?:\.{_ONE})*(?:,\d+)?\)", re.ASCII)


def validate(fmu: Path) -> list[str]:
    """Problems in words, none where nothing is wrong; fmu: the archive, or the folder that it was unpacked to."""
    return [*_paths(fmu), *_description(fmu)]


def _paths(fmu: Path) -> Iterator[str]:
    if fmu.is_file():
        with zipfile.ZipFile(fmu) as archive:
            names = [entry.orig_filename for entry in archive.infolist()]
        yield from (f'The file path "{name}" contains a backslash.' for name in names if "\\" in name)


def _description(fmu: Path) -> list[str]:
    try:
        read = read_model_description(str(fmu), validate=True, validate_model_structure=True)
    except ValidationError as error:
        return list(error.problems)
    except Exception as error:  # of whatever kind: it is read no further
        return [str(error)]
    if read.variableNamingConvention != "structured":
        return list(validate_fmu(str(fmu)))
    return [
        f'"{variable.name}" (line {variable.sourceline}) is no name of the naming convention "structured".'
        for variable in read.modelVariables
        if not _NAME.fullmatch(variable.name)
    ]
