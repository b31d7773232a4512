"""Functions that load the description of a command and determine the exit status of the command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..options.common import DescribedCase, DescribedVariant
from .changes import changes_of

if TYPE_CHECKING:
    from ..api.model import Model

OK, DISAGREES, BAD_INPUT, MISSING_TOOL, EXHAUSTED, QUESTIONABLE = range(6)


def exit_status(ok: bool, questionable: bool) -> int:
    """Return the exit status of a command from its verdict.

    The argument `questionable` is true if the option `--strict` is given and a value is unusual.
    """
    if not ok:
        return DISAGREES
    return QUESTIONABLE if questionable else OK


def load(source: DescribedCase) -> Model:
    """Return the model of a description, with the case and the `--set` changes of the command line."""
    from ..api.model import load as load_model

    changes = changes_of(source.changes) if isinstance(source, DescribedVariant) else {}
    return load_model(source.file, source.case, **changes)
