"""Commands generated from functions: the fields of option classes become command-line options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from ..options.option import Entry, entries


def command(app: typer.Typer, name: str | None = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that registers a function as a command.

    If the type of a parameter is an option class, each field of the class becomes an option of the
    command. All other parameters, such as the context, are passed to typer unchanged.

    Parameters
    ----------
    app
        Typer application that the command is added to.
    name
        Name of the command; None for the name of the function.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(function)
        taken = {parameter: hints[parameter] for parameter in inspect.signature(function).parameters}

        @wraps(function)
        def called(**values: Any) -> None:
            function(**{parameter: _gathered(parameter, kind, values) for parameter, kind in taken.items()})

        parameters = [entry for parameter, kind in taken.items() for entry in _parameters(parameter, kind)]
        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {entry.name: entry.annotation for entry in parameters}
        app.command(name)(called)
        return function

    return decorate


def _gathered(parameter: str, kind: Any, values: dict[str, Any]) -> Any:
    """Return the argument for one parameter of a function.

    If the type of the parameter is an option class, the argument is an instance of this class.
    Otherwise, the argument is the value from typer.
    """
    if not is_dataclass(kind):
        return values[parameter]
    return kind(**{entry.name: values[entry.name] for entry in entries(kind)})  # type: ignore[arg-type, operator]


def _parameters(parameter: str, kind: Any) -> Iterator[inspect.Parameter]:
    if not is_dataclass(kind):
        yield inspect.Parameter(parameter, inspect.Parameter.KEYWORD_ONLY, annotation=kind)
        return
    for entry in entries(kind):  # type: ignore[arg-type]
        annotation: Any = Annotated[entry.type, _form(entry)]
        yield inspect.Parameter(
            entry.name, inspect.Parameter.KEYWORD_ONLY, default=entry.default, annotation=annotation
        )


def _form(entry: Entry) -> Any:
    option = entry.option
    if option.positional:
        return typer.Argument(help=option.help)
    return typer.Option(
        *option.flag.split(), help=option.help, min=option.least, show_default=option.shows_default
    )
