"""Command signals of elements, given by an expression or by an input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..expressions.jets import value
from ..expressions.setting import Setting
from ..expressions.state import Numbers, State


class Command:
    """Command signal of an element.

    The signal is given by an expression. Without an expression, it is the FMU input `<name>_<key>`.

    Parameters
    ----------
    table : mapping
        Table of the element.
    key : str
        Key of the command.
    setting : Setting
        Context that compiles the expression.
    """

    def __init__(self, table: Mapping[str, Any], key: str, setting: Setting) -> None:
        name, text = table["name"], table[key]
        self._input, self._names = f"{name}_{key}", setting.names
        self._law = None if text is None else setting.compile(text, f"{key} of {name}")

    def __call__(self, state: State) -> float:
        """Return the command at one state; if the command is an input that has no value, return 0."""
        if self._law is None:
            return state.input(self._input)
        return float(value(self._law(Numbers(state, self._names))))
