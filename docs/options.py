"""Parameter lists of the API reference.

If a function has a parameter for an options class, each field of the class is listed as a separate
parameter.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import griffe

_MODULES = re.compile(r"\b(?:[a-z]\w*\.)+")


class OptionFields(griffe.Extension):
    """Extension of mkdocstrings that documents each option of a decorated function as a parameter.

    In the source code, a function with the decorator `taking` has a single parameter for all
    options. Callers pass each option as a separate argument. Parameters and docstring are therefore
    taken from the imported function.
    """

    def on_function(self, *, func: griffe.Function, **others: Any) -> None:
        """If a function has the decorator `taking`, document each of its options as a parameter.

        Signature and docstring are read from the imported function, because only the import applies
        the decorator.
        """
        del others
        if not any(str(decorator.value).startswith("taking(") for decorator in func.decorators):
            return
        imported = griffe.dynamic_import(func.path)
        func.parameters = griffe.Parameters(*map(_parameter, inspect.signature(imported).parameters.values()))
        if func.docstring is not None:
            func.docstring.value = inspect.getdoc(imported) or ""


def _parameter(of: inspect.Parameter) -> griffe.Parameter:
    kind = griffe.ParameterKind(of.kind.description)
    return griffe.Parameter(
        of.name, annotation=_annotation(of.annotation), kind=kind, default=_default(of.default)
    )


def _annotation(of: Any) -> str | None:
    """Return the text of a type annotation without the names of modules."""
    if of is inspect.Parameter.empty:
        return None
    return _MODULES.sub("", of if isinstance(of, str) else inspect.formatannotation(of))


def _default(of: Any) -> str | None:
    if of is inspect.Parameter.empty:
        return None
    return of.__name__ if callable(of) else repr(of)
