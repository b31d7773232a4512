"""Extension of mkdocstrings that shows the keywords of functions that take the fields of a record."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from operator import attrgetter
from typing import Any

from griffe import Extension, Function, Parameter, ParameterKind, Parameters


class RecordSignatures(Extension):
    """Replaces the parameter `options` of functions decorated by `taking` by the fields of the record.

    mkdocstrings reads source code and does not run decorators; this extension takes signature and docstring of the
    decorated function, as `inspect` and editors see them.
    """

    def on_function_instance(self, *, func: Function, **_: Any) -> None:
        """Set the parameters and the docstring of a decorated function."""
        if not any(str(decorator.value).startswith("taking(") for decorator in func.decorators):
            return
        module = func.module.path
        decorated = attrgetter(func.path.removeprefix(f"{module}."))(import_module(module))
        signature = inspect.signature(decorated)
        func.parameters = Parameters(*map(_parameter, signature.parameters.values()))
        if func.docstring is not None:
            func.docstring.value = inspect.getdoc(decorated) or ""


def _parameter(parameter: inspect.Parameter) -> Parameter:
    has_type, has_default = (
        given is not inspect.Parameter.empty for given in (parameter.annotation, parameter.default)
    )
    return Parameter(
        parameter.name,
        kind=ParameterKind[parameter.kind.name.lower()],
        annotation=_text(parameter.annotation) if has_type else None,
        default=_default(parameter.default) if has_default else None,
    )


def _text(annotation: Any) -> str:
    """Return a type as text, without the names of the modules that define its parts."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b[a-z_.]+\.(?=[A-Z])", "", text)


def _default(value: Any) -> str:
    return value.__name__ if callable(value) else repr(value)
