"""WebAssembly components of FMUs in wasmtime, an engine that shares nothing with the package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from helpers_fmpy import Array

_NAME = "fmi:fmi3/{}@3.0.0"


class ComponentError(Exception):
    """A call returned an error; the text is the status."""


class Component:
    """A loaded component; `log` collects what its instances log."""

    def __init__(self, content: bytes) -> None:
        wasmtime = pytest.importorskip("wasmtime", reason="needs wasmtime, of the extra `test`")
        component = pytest.importorskip("wasmtime.component")
        engine = wasmtime.Engine()
        self.store, self.log = wasmtime.Store(engine), []
        self.code = component.Component(engine, content)
        self.engine, linker = engine, component.Linker(engine)
        with linker.root() as root, root.add_instance(_NAME.format("callbacks")) as callbacks:
            callbacks.add_func("log-message", lambda _store, *given: self.log.append(given))
        self.instance = linker.instantiate(self.store, self.code)

    def call(self, interface: str, function: str, *given: Any) -> Any:
        """Result of an exported function."""
        of = self.instance.get_export_index(self.store, _NAME.format(interface))
        found = self.instance.get_func(self.store, self.instance.get_export_index(self.store, function, of))
        result = found(self.store, *given)
        found.post_return(self.store)
        return result


class Instance:
    """An instance of an FMU in a component, with methods of the layered standard by their names."""

    def __init__(self, component: Component, kind: str, token: str, *, logging: bool = True) -> None:
        self.component, self.kind = component, kind
        own = (False, False, []) if kind == "co-simulation" else ()
        given = ("instance", token, "", False, logging, *own)
        self.handle = component.call(kind, f"[static]{kind}-instance.instantiate-{kind}", *given)

    def call(self, method: str, *given: Any) -> Any:
        """Result of a method; raises ComponentError for a status that is not ok."""
        result = self.component.call(self.kind, f"[method]{self.kind}-instance.{method}", self.handle, *given)
        if result in ("warning", "discard", "error", "fatal"):
            raise ComponentError(result)
        return result

    def start(self, values: Mapping[int, float], tolerance: float | None = None) -> Instance:
        """The instance after its initialisation with values by value reference."""
        self.set(values)
        self.call("enter-initialization-mode", tolerance, 0.0, None)
        self.call("exit-initialization-mode")
        return self

    def set(self, values: Mapping[int, float]) -> None:
        """Set 64-bit floats by value reference."""
        self.call("set-float64", list(values), list(values.values()))

    def get(self, references: list[int]) -> Array:
        """64-bit floats."""
        return np.array(self.call("get-float64", references))

    def drop(self) -> None:
        """Frees the instance."""
        self.handle.drop(self.component.store)
