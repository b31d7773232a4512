"""Opening of FMUs in FMPy.

The module imports few packages, so that worker processes start quickly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import fmpy

from ...core.errors import DescriptionError, UnknownNameError
from ...core.file_kinds import why
from ...language.suggest import unknown


def read_fmu(fmu: Path) -> Any:
    """Read the model description of an FMU. Raises DescriptionError if FMPy cannot read it."""
    try:
        return fmpy.read_model_description(str(fmu))
    except OSError as error:
        raise DescriptionError(str(fmu), f"cannot be read: {why(error)}") from None
    # FMPy raises the base class `Exception`, so a more specific class cannot be caught.
    except Exception as error:
        raise DescriptionError(str(fmu), f"is not an FMU that FMPy can read: {error}") from None


def check_variables(names: Iterable[str], description: Any) -> None:
    """Raise UnknownNameError if one of the names is not the name of an FMU variable.

    Elements of arrays have names such as `name[1]`.
    """
    known = {variable.name for variable in description.modelVariables}
    for name in names:
        if not {name, name.partition("[")[0]} & known:
            raise UnknownNameError(unknown("variable", name, sorted(known)))


def logger(messages: list[str]) -> Callable[..., None]:
    """Return a logger for FMPy that collects the error messages of an FMU."""

    # In FMI 2.0 and in FMI 3.0, the last three arguments of a logger are status, category and message.
    def log(*arguments: Any) -> None:
        status, _, message = arguments[-3:]
        if status >= fmpy.fmi2.fmi2Discard:
            messages.append(message.decode("utf-8", "replace"))

    return log
