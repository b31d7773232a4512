"""Binary format of WebAssembly components (component model, preview 2) and of small core modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .interface import Type

_MODULE, _COMPONENT = b"\0asm\1\0\0\0", b"\0asm\x0d\0\1\0"
_PRIMITIVES = {
    "string": 0x73,
    "f64": 0x75,
    "f32": 0x76,
    "u64": 0x77,
    "s64": 0x78,
    "u32": 0x79,
    "s32": 0x7A,
    "u16": 0x7B,
    "s16": 0x7C,
    "u8": 0x7D,
    "s8": 0x7E,
    "bool": 0x7F,
}
# The binary format of WebAssembly components defines the section numbers.
_CORE_MODULE, _CORE_INSTANCE, _COMPONENT_SECTION, _INSTANCE, _ALIAS, _TYPE, _CANONICAL, _IMPORT, _EXPORT = (
    *(1, 2, 4, 5),
    *(6, 7, 8, 10, 11),
)
# A reference to a definition in a WebAssembly component begins with the code of the definition's kind.
CORE_FUNCTION, CORE_TABLE, CORE_MEMORY = b"\0\0", b"\0\1", b"\0\2"
FUNCTION, TYPE, INSTANCE = b"\1", b"\3", b"\5"


def number(value: int) -> bytes:
    """Encode a natural number in LEB128."""
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + number(rest) if rest else bytes([low])


def name(text: str) -> bytes:
    """Encode an ASCII name as its length, followed by its characters."""
    return number(len(text)) + text.encode()


def vector(items: Iterable[bytes]) -> bytes:
    """Return the encoding of a list whose items are already encoded."""
    items = list(items)
    return number(len(items)) + b"".join(items)


def module(sections: Mapping[int, Iterable[bytes] | bytes]) -> bytes:
    """Return a WebAssembly core module with the given sections.

    The content of a section is a list of encoded items, or is already encoded as bytes.
    """
    contents = {key: body if isinstance(body, bytes) else vector(body) for key, body in sections.items()}
    return _MODULE + b"".join(_section(key, body) for key, body in contents.items())


def _section(key: int, body: bytes) -> bytes:
    return bytes([key]) + number(len(body)) + body


def _label(text: str) -> bytes:
    return b"\0" + name(text)  # In a WebAssembly component, names of imports and exports begin with a zero byte.


def _index(value: int) -> bytes:
    """Encode the index of a type as a signed number.

    Primitive types have negative numbers, so that a type index cannot be mistaken for a primitive type.
    """
    low, rest = value & 0x7F, value >> 7
    return bytes([low]) if not rest and low < 0x40 else bytes([low | 0x80]) + _index(rest)


@dataclass
class Types:
    """Types that a WebAssembly component or interface defines, in the order of the type indices.

    Attributes
    ----------
    known : dict
        Index of each type. The dictionary keys are types and names of types.
    definitions : list of bytes
        Binary definitions that have not been written yet.
    """

    known: dict[Type | str, int] = field(default_factory=dict)
    definitions: list[bytes] = field(default_factory=list)
    size: int = 0

    def define(self, encoded: bytes) -> int:
        """Add an encoded type definition to the list and return its type index."""
        self.definitions.append(encoded)
        self.size += 1
        return self.size - 1

    def name(self, label: str) -> int:
        """Assign the next index to a type that an import, an alias or an export has defined.

        The index is stored under the name of the type.
        """
        self.known[label] = self.size
        self.size += 1
        return self.size - 1

    def definition(self, of: Type) -> int:
        """Return the index of a type definition.

        If the type is primitive or has no definition yet, a definition is added first.
        """
        return self.define(bytes([_PRIMITIVES[of.name]])) if of.name in _PRIMITIVES else self.index(of)

    def index(self, of: Type) -> int:
        """Return the index of a type; a type without an index is defined first."""
        if of.name in self.known:
            return self.known[of.name]
        if of not in self.known:
            encoded = self._encode(of)
            self.known[of] = self.define(encoded)
        return self.known[of]

    def _value(self, of: Type) -> bytes:
        primitive = _PRIMITIVES.get(of.name)
        return _index(self.index(of)) if primitive is None else bytes([primitive])

    def _labelled(self, parts: Iterable[tuple[str, Type]]) -> bytes:
        return vector(name(label) + self._value(part) for label, part in parts)

    def _encode(self, of: Type) -> bytes:
        parts = [part for _, part in of.parts]
        match of.name:
            case "record":
                return b"\x72" + self._labelled(of.parts)
            case "enum":
                return b"\x6d" + vector(name(part.name) for part in parts)
            case "tuple":
                return b"\x6f" + vector(map(self._value, parts))
            case "list":
                return b"\x70" + self._value(parts[0])
            case "option":
                return b"\x6b" + self._value(parts[0])
            case "result":
                return b"\x6a" + b"".join(b"\1" + self._value(part) for part in parts)
            case "own":
                return b"\x69" + number(self.known[parts[0].name])
            case "borrow":
                return b"\x68" + number(self.known[parts[0].name])
            case "func":
                return self._function(of)
            case _:
                raise KeyError(of.name)

    def _function(self, of: Type) -> bytes:
        results = [part for label, part in of.parts if label == "->"]
        parameters = self._labelled((label, part) for label, part in of.parts if label != "->")
        result = b"\0" + self._value(results[0]) if results else b"\1\0"
        return b"\x40" + parameters + result


def instance_type(types: Mapping[str, Type], functions: Mapping[str, Type], outer: Mapping[str, int]) -> bytes:
    """Encode the type of an instance that exports types and functions.

    The argument `outer` contains the indices of types that the component defines outside of the
    instance, by name. The instance also exports these types, under the same names.
    """
    own, declarations = Types(), list[bytes]()

    def declare(declaration: bytes) -> None:
        declarations.extend(b"\1" + definition for definition in own.definitions)
        own.definitions.clear()
        declarations.append(declaration)

    def export_type(label: str, index: int) -> None:
        declare(b"\4" + _label(label) + TYPE + b"\0" + number(index))
        own.name(label)

    for label, index in outer.items():
        declare(b"\2" + TYPE + b"\2" + number(1) + number(index))
        export_type(label, own.name(label))
    for label, of in types.items():
        export_type(label, own.definition(of))
    for label, of in functions.items():
        index = own.index(of)
        declare(b"\4" + _label(label) + FUNCTION + number(index))
    return b"\x42" + vector(declarations)


class ComponentEncoder:
    """Encoder of a WebAssembly component; each method writes one definition and returns its index."""

    def __init__(self) -> None:
        self.types = Types()
        self._content = _COMPONENT
        self._sizes: Counter[bytes | int] = Counter()

    def encoded(self) -> bytes:
        """Return the encoded component."""
        self._write_types()
        return self._content

    def _write_types(self) -> None:
        if self.types.definitions:
            self._content += _section(_TYPE, vector(self.types.definitions))
            self.types.definitions.clear()

    def _write(self, section: int, item: bytes, kind: bytes) -> int:
        self._write_types()
        self._content += _section(section, vector([item]))
        self._sizes[kind] += 1
        return self._sizes[kind] - 1

    def module(self, content: bytes) -> int:
        """Embed a WebAssembly core module in the component and return the index of the module."""
        return self._embed(_CORE_MODULE, content)

    def component(self, content: bytes) -> int:
        """Embed an inner component and return its index."""
        return self._embed(_COMPONENT_SECTION, content)

    def _embed(self, section: int, content: bytes) -> int:
        self._write_types()
        self._content += _section(section, content)
        self._sizes[section] += 1
        return self._sizes[section] - 1

    def resource(self, label: str, destructor: int) -> int:
        """Define a type whose instances are addresses in memory.

        The core function with the index `destructor` frees an instance.
        """
        index = self.types.define(b"\x3f\x7f\1" + number(destructor))
        self.types.known[label] = index
        return index

    def import_instance(self, label: str, of: bytes) -> int:
        """Import an interface and return the index of its instance; `of` is the encoded type of this instance."""
        index = self.types.define(of)
        return self._write(_IMPORT, _label(label) + INSTANCE + number(index), INSTANCE)

    def import_type(self, prefix: str, label: str, of: Type | None) -> None:
        """Import a type under the name `prefix` + `label`.

        If `of` is None, the imported type is the resource type of FMU instances.
        """
        bound = b"\1" if of is None else b"\0" + number(self.types.definition(of))
        self._write(_IMPORT, _label(prefix + label) + TYPE + bound, TYPE)
        self.types.name(label)

    def import_function(self, label: str, of: Type) -> int:
        """Import a function of the given type and return its index."""
        index = self.types.index(of)
        return self._write(_IMPORT, _label(label) + FUNCTION + number(index), FUNCTION)

    def imported_type(self, instance: int, label: str) -> int:
        """Define an alias for a type of an imported interface, and return the index of the type."""
        self._write(_ALIAS, TYPE + b"\0" + number(instance) + name(label), TYPE)
        return self.types.name(label)

    def imported_function(self, instance: int, label: str) -> int:
        """Define an alias for a function of an imported interface."""
        return self._write(_ALIAS, FUNCTION + b"\0" + number(instance) + name(label), FUNCTION)

    def core_export(self, kind: bytes, instance: int, label: str) -> int:
        """Define an alias for an export of a WebAssembly core instance, and return the index of the alias."""
        return self._write(_ALIAS, kind + b"\1" + number(instance) + name(label), kind)

    def instantiate(self, module_index: int, arguments: Mapping[str, int]) -> int:
        """Create an instance of a low-level WebAssembly module; other instances supply its imports."""
        given = vector(name(label) + b"\x12" + number(index) for label, index in arguments.items())
        return self._write(_CORE_INSTANCE, b"\0" + number(module_index) + given, b"core instance")

    def core_instance(self, exports: Mapping[str, tuple[bytes, int]]) -> int:
        """Define a core instance that exports the given core functions, tables or memories.

        The instance provides the imports of a WebAssembly core module.
        """
        given = vector(name(label) + kind[1:] + number(index) for label, (kind, index) in exports.items())
        return self._write(_CORE_INSTANCE, b"\1" + given, b"core instance")

    def new_resource(self, resource: int) -> int:
        """Define the WebAssembly core function that converts the address of an FMU instance to a handle."""
        return self._write(_CANONICAL, b"\2" + number(resource), CORE_FUNCTION)

    def lower(self, function: int, memory: int) -> int:
        """Define the low-level function by which a WebAssembly module calls an imported function.

        The specification of WebAssembly components names this definition `canon lower`."""
        return self._write(_CANONICAL, b"\1\0" + number(function) + _options(memory), CORE_FUNCTION)

    def lift(self, core_function: int, of: Type, memory: int, realloc: int, release: int) -> int:
        """Define a function of the WebAssembly component that calls a given core function (`canon lift`).

        The argument `of` is the type of the new function.
        """
        index = self.types.index(of)
        options = _options(memory, b"\4" + number(realloc), b"\5" + number(release))
        return self._write(_CANONICAL, b"\0\0" + number(core_function) + options + number(index), FUNCTION)

    def instance(self, component: int | None, definitions: Mapping[str, tuple[bytes, int]]) -> int:
        """Define an instance of the WebAssembly component model, and return the index of the instance.

        If `component` is the index of a component, this component is instantiated, and `definitions`
        are its imports. If `component` is None, the new instance exports the types and functions in
        `definitions`.
        """
        kind, label_of = (b"\1", _label) if component is None else (b"\0" + number(component), name)
        given = vector(label_of(label) + sort + number(index) for label, (sort, index) in definitions.items())
        return self._write(_INSTANCE, kind + given, INSTANCE)

    def export_instance(self, label: str, instance: int) -> int:
        """Export an instance as the interface with the name `label`."""
        return self._write(_EXPORT, _label(label) + INSTANCE + number(instance) + b"\0", INSTANCE)

    def export_types(self, labels: Sequence[str]) -> None:
        """Export types by their names; functions that are exported later can use only these types."""
        before = dict(self.types.known)
        for label in labels:
            self._write(_EXPORT, _label(label) + TYPE + number(before[label]) + b"\0", TYPE)
            self.types.name(label)
        self.types.known = {label: self.types.known[label] for label in labels}

    def export_function(self, label: str, function: int, of: Type) -> int:
        """Export a function; its declared type may refer only to exported types."""
        given = b"\1" + FUNCTION + number(self.types.index(of))
        return self._write(_EXPORT, _label(label) + FUNCTION + number(function) + given, FUNCTION)


def _options(memory: int, *others: bytes) -> bytes:
    # The option with code 0 selects UTF-8 as the encoding of strings.
    return vector([b"\0", b"\3" + number(memory), *others])
