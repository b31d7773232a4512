"""WebAssembly component that exports an FMU's functions with the types of the FMI layered standard.

The component contains the core module that was compiled from the FMU's C code and `adapter.c`.
"""

from __future__ import annotations

from .encoding import (
    CORE_FUNCTION,
    CORE_MEMORY,
    CORE_TABLE,
    FUNCTION,
    TYPE,
    ComponentEncoder,
    instance_type,
    module,
    name,
    number,
    vector,
)
from .interface import COMMON, INTERFACES, LOG_MESSAGE, TYPES, Interface, Type, definitions, full_name

# Each value is the number of arguments of a function that is called through a WebAssembly function table.
_LATE = {"drop": 1, "log-message": 7}
_I32, _FUNCREF = b"\x7f", b"\x70"


def component(core: bytes) -> bytes:
    """Return the WebAssembly component of a core module that was compiled with `adapter.c`.

    The component imports the types and the logger of the layered standard. It exports the interfaces of
    model exchange and co-simulation.
    """
    return _Builder(core).build()


class _Builder:
    def __init__(self, core: bytes) -> None:
        self.out = ComponentEncoder()
        self.core = core
        # The dictionary maps the name of each exported core function to the index of the function.
        self.methods: dict[str, int] = {}

    def build(self) -> bytes:
        log = self._imports()
        main, resources = self._instances(log)
        version = self._lifted(main, "get-version", definitions(COMMON)["get-version"])
        common = self.out.instance(None, {"get-version": (FUNCTION, version)})
        self.out.export_instance(full_name("common"), common)
        for interface, resource in zip(INTERFACES, resources, strict=True):
            self._export(interface, resource, main)
        return self.out.encoded()

    def _imports(self) -> int:
        """Import the types and the logger of the layered standard; return the index of the log function."""
        shared = self.out.import_instance(full_name("types"), instance_type(definitions(TYPES), {}, {}))
        known = {label: self.out.imported_type(shared, label) for label in definitions(TYPES)}
        logger = instance_type({}, definitions(LOG_MESSAGE), {"status": known["status"]})
        callbacks = self.out.import_instance(full_name("callbacks"), logger)
        return self.out.imported_function(callbacks, "log-message")

    def _instances(self, log: int) -> tuple[int, list[int]]:
        """Instantiate the WebAssembly modules; return the FMU's core instance and the resource types.

        Model exchange and co-simulation have one resource type each. The FMU's module imports functions of
        the resource types and of the logger. These functions need the destructor and the memory that the
        FMU's module exports. A function table, which is filled last, resolves this cyclic dependency.
        """
        out = self.out
        late, main_module, fill = map(out.module, (_late_module(), self.core, _fill_module()))
        table = out.instantiate(late, {})
        destructor = out.core_export(CORE_FUNCTION, table, "drop")
        resources = [out.resource(i.resource, destructor) for i in INTERFACES]
        host = {
            f"new-{i.name}": (CORE_FUNCTION, out.new_resource(r))
            for i, r in zip(INTERFACES, resources, strict=True)
        }
        host["log-message"] = CORE_FUNCTION, out.core_export(CORE_FUNCTION, table, "log-message")
        main = out.instantiate(main_module, {"host": out.core_instance(host)})
        self.memory = out.core_export(CORE_MEMORY, main, "memory")
        given = {
            "drop": (CORE_FUNCTION, self._function(main, "drop")),
            "log-message": (CORE_FUNCTION, out.lower(log, self.memory)),
            "_initialize": (CORE_FUNCTION, self._function(main, "_initialize")),
            "table": (CORE_TABLE, out.core_export(CORE_TABLE, table, "table")),
        }
        out.instantiate(fill, {"": out.core_instance(given)})
        return main, resources

    def _function(self, main: int, label: str) -> int:
        if label not in self.methods:
            self.methods[label] = self.out.core_export(CORE_FUNCTION, main, label)
        return self.methods[label]

    def _lifted(self, main: int, label: str, of: Type) -> int:
        realloc, release = self._function(main, "realloc"), self._function(main, "release")
        return self.out.lift(self._function(main, label), of, self.memory, realloc, release)

    def _export(self, interface: Interface, resource: int, main: int) -> None:
        """Export an interface, i.e. its types and functions, under the name of the interface.

        Exported functions may refer only to exported types, but the functions of this component refer to
        internal types. An inner component therefore imports types and functions, and exports all of them.
        """
        types, functions = _types(interface), _functions(interface)
        for label, of in definitions(interface.record).items():
            self.out.types.known[label] = self.out.types.index(of)
        given = {f"type-{label}": (TYPE, self.out.types.known[label]) for label in types}
        given |= {label: (FUNCTION, self._lifted(main, label, of)) for label, of in functions.items()}
        instance = self.out.instance(self.out.component(_exporter(interface)), given)
        self.out.export_instance(full_name(interface.name), instance)


def _types(interface: Interface) -> dict[str, Type | None]:
    """Return the types of an interface by name; the value None stands for the type of an FMU instance."""
    return {**definitions(TYPES), **definitions(interface.record), interface.resource: None}


def _functions(interface: Interface) -> dict[str, Type]:
    """Return all functions of an interface by their names."""
    kind, make = interface.resource, f"instantiate-{interface.name}"
    this = "self", Type("borrow", (("", Type(kind)),))
    methods = definitions(interface.methods)
    return {
        make: definitions(f"{make}: func<{interface.instantiate} -> option<own<{kind}>>>")[make],
        **{label: Type("func", (this, *of.parts)) for label, of in methods.items()},
    }


def _exporter(interface: Interface) -> bytes:
    """Return a component that imports the types and functions of an interface and exports them."""
    inner, types, functions = ComponentEncoder(), _types(interface), _functions(interface)
    for label, of in types.items():
        inner.import_type("type-", label, of)
    imported = {label: inner.import_function(label, of) for label, of in functions.items()}
    inner.export_types(list(types))
    for label, of in functions.items():
        role = "method" if label in definitions(interface.methods) else "static"
        inner.export_function(f"[{role}]{interface.resource}.{label}", imported[label], of)
    return inner.encoded()


def _function_types() -> list[bytes]:
    return [b"\x60" + vector([_I32] * n) + vector([]) for n in _LATE.values()]


def _late_module() -> bytes:
    """Return a WebAssembly module that consists of a function table and of the functions in `_LATE`.

    Each function calls an entry of the table. Another module fills the table later.
    """
    exports = [name(label) + b"\0" + number(k) for k, label in enumerate(_LATE)]
    bodies = []
    for k, n in enumerate(_LATE.values()):
        arguments = b"".join(b"\x20" + number(i) for i in range(n))
        # After the arguments, the WebAssembly code contains the instructions i32.const, call_indirect and end.
        code = arguments + b"\x41" + number(k) + b"\x11" + number(k) + b"\0\x0b"
        bodies.append(number(len(code) + 1) + b"\0" + code)
    return module(
        {
            1: _function_types(),
            3: map(number, range(len(_LATE))),
            4: [_FUNCREF + b"\0" + number(len(_LATE))],
            7: [*exports, name("table") + b"\1\0"],
            10: bodies,
        }
    )


def _fill_module() -> bytes:
    """Return a WebAssembly module that fills a function table and then initialises the FMU's module.

    The function table belongs to the module that `_late_module` returns.
    """
    functions = [*_LATE, "_initialize"]
    imports = [name("") + name(label) + b"\0" + number(k) for k, label in enumerate(functions)]
    entries = vector(map(number, range(len(_LATE))))
    return module(
        {
            1: [*_function_types(), b"\x60\0\0"],
            2: [*imports, name("") + name("table") + b"\1" + _FUNCREF + b"\0" + number(len(_LATE))],
            8: number(len(_LATE)),
            9: [b"\0\x41\0\x0b" + entries],
        }
    )
