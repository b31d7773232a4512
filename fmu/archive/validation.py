"""Validation of an FMU's archive and modelDescription.xml with FMPy."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from fmpy.model_description import ValidationError, read_model_description
from fmpy.validation import validate_fmu

# Names of the convention "structured" follow the grammar in section 2.2.9 of the FMI 2.0 specification.
# The grammar of variable names is ambiguous, so FMPy's parser would need most of the time of an FMU build.
# The grammar of variable names defines a regular language, so a regular expression is sufficient.
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
    except Exception as error:  # FMPy raises exceptions of various classes for malformed files.
        return [str(error)]
    if read.variableNamingConvention != "structured":
        return list(validate_fmu(str(fmu)))
    return [
        f'"{variable.name}" (line {variable.sourceline}) does not follow the naming convention "structured".'
        for variable in read.modelVariables
        if not _NAME.fullmatch(variable.name)
    ]
