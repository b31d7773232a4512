"""Validation of an FMU's archive and modelDescription.xml with FMPy."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from fmpy.model_description import ValidationError, read_model_description
from fmpy.validation import validate_fmu

# Variable names of the naming convention "structured" (FMI 2.0, section 2.2.9).
# The standard's grammar is ambiguous, so FMPy's parser needs most of the time of a build.
# The grammar defines a regular language, so this package checks names with a regular expression.
_QUOTED = r"""'(?:[\w!#$%&()*+,\-./:;<>=?@\[\]^{}|~ ]|\\['"?\\abfnrtv])+'"""
_ONE = rf"(?:[A-Za-z_]\w*|{_QUOTED})(?:\[\d+(?:,\d+)*\])?"
_NAME = re.compile(rf"{_ONE}(?:\.{_ONE})*|der\({_ONE}(?:\.{_ONE})*(?:,\d+)?\)", re.ASCII)


def validate(fmu: Path) -> list[str]:
    """Return the problems that the validation of an FMU found, one message per problem.

    The list is empty if the FMU is valid. `fmu` is the path of the archive or of the folder to
    which it was extracted.
    """
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
    except Exception as error:  # FMPy raises various exceptions for malformed files
        return [str(error)]
    if read.variableNamingConvention != "structured":
        return list(validate_fmu(str(fmu)))
    return [
        f'"{variable.name}" (line {variable.sourceline}) does not follow the naming convention "structured".'
        for variable in read.modelVariables
        if not _NAME.fullmatch(variable.name)
    ]
