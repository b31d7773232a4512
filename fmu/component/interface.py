"""Functions of the FMI layered standard for WebAssembly: package fmi:fmi3@3.0.0 of the working draft of 2026."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

PACKAGE, VERSION = "fmi:fmi3", "3.0.0"

# The WebAssembly interface `types` defines types that several other interfaces use.
TYPES = """
value-reference: u32
status: enum<ok, warning, discard, error, fatal>
interval-qualifier: enum<interval-not-yet-known, interval-unchanged, interval-changed>
dependency-kind: enum<dependent, constant, fixed, tunable, discrete>
fmu-state: list<u8>
interval-fraction: record<counter: u64, resolution: u64>
variable-dependency: record<dependent-value-reference: value-reference, element-index-of-dependent: u32,
    independent-value-reference: value-reference, element-index-of-independent: u32, kind: dependency-kind>
discrete-states-info: record<new-discrete-states-needed: bool, terminate-simulation: bool,
    nominals-of-continuous-states-changed: bool, values-of-continuous-states-changed: bool,
    next-event-time-defined: bool, next-event-time: f64>
"""

LOG_MESSAGE = "log-message: func<instance-name: string, status: status, category: string, message: string>"

COMMON = "get-version: func<-> string>"

_INSTANTIATE = (
    "instance-name: string, instantiation-token: string, resource-path: string, visible: bool, logging-on: bool"
)

# Each method of a model-exchange or co-simulation instance also has the parameter `self`.
_METHODS = """
set-debug-logging: func<logging-on: bool, categories: list<string> -> status>
enter-initialization-mode: func<tolerance: option<f64>, start-time: f64, stop-time: option<f64> -> status>
exit-initialization-mode: func<-> status>
enter-event-mode: func<-> status>
update-discrete-states: func<-> result<discrete-states-info, status>>
terminate: func<-> status>
reset: func<-> status>
enter-configuration-mode: func<-> status>
exit-configuration-mode: func<-> status>
get-number-of-variable-dependencies: func<vr: value-reference -> result<u64, status>>
get-variable-dependencies: func<dependent: value-reference -> result<list<variable-dependency>, status>>
get-fmu-state: func<-> result<fmu-state, status>>
set-fmu-state: func<state: fmu-state -> status>
get-directional-derivative: func<unknowns: list<value-reference>, knowns: list<value-reference>, seed: list<f64>
    -> result<list<f64>, status>>
get-adjoint-derivative: func<unknowns: list<value-reference>, knowns: list<value-reference>, seed: list<f64>
    -> result<list<f64>, status>>
get-interval-decimal: func<value-references: list<value-reference>
    -> result<list<tuple<f64, interval-qualifier>>, status>>
get-interval-fraction: func<value-references: list<value-reference>
    -> result<list<tuple<interval-fraction, interval-qualifier>>, status>>
get-shift-decimal: func<value-references: list<value-reference> -> result<list<f64>, status>>
get-shift-fraction: func<value-references: list<value-reference> -> result<list<interval-fraction>, status>>
set-interval-decimal: func<value-references: list<value-reference>, intervals: list<f64> -> status>
set-interval-fraction: func<value-references: list<value-reference>, intervals: list<interval-fraction> -> status>
set-shift-decimal: func<value-references: list<value-reference>, shifts: list<f64> -> status>
set-shift-fraction: func<value-references: list<value-reference>, shifts: list<interval-fraction> -> status>
evaluate-discrete-states: func<-> status>
get-output-derivatives: func<requests: list<tuple<value-reference, u32>> -> result<list<f64>, status>>
enter-step-mode: func<-> status>
"""

_MODEL_EXCHANGE = """
enter-continuous-time-mode: func<-> status>
set-time: func<time: f64 -> status>
set-continuous-states: func<continuous-states: list<f64> -> status>
get-continuous-state-derivatives: func<-> result<list<f64>, status>>
get-event-indicators: func<-> result<list<f64>, status>>
get-continuous-states: func<-> result<list<f64>, status>>
get-nominals-of-continuous-states: func<-> result<list<f64>, status>>
get-number-of-event-indicators: func<-> result<u64, status>>
get-number-of-continuous-states: func<-> result<u64, status>>
completed-integrator-step: func<no-set-fmu-state-prior-to-current-point: bool
    -> result<completed-step-result, status>>
"""

_CO_SIMULATION = """
set-input-derivatives: func<requests: list<tuple<value-reference, u32>>, values: list<f64> -> status>
do-step: func<current-communication-point: f64, communication-step-size: f64,
    no-set-fmu-state-prior-to-current-point: bool -> result<do-step-result, status>>
"""

# WebAssembly interface type of a scalar of each FMI variable type.
_VALUES = {
    "float32": "f32",
    "float64": "f64",
    "int8": "s8",
    "int16": "s16",
    "int32": "s32",
    "int64": "s64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "boolean": "bool",
    "string": "string",
    "binary": "list<u8>",
    "clock": "bool",
}
_ACCESS = "".join(
    f"get-{name}: func<value-references: list<value-reference> -> result<list<{value}>, status>>\n"
    f"set-{name}: func<value-references: list<value-reference>, values: list<{value}> -> status>\n"
    for name, value in _VALUES.items()
)


@dataclass(frozen=True)
class Interface:
    """Interface that a component exports for model exchange or co-simulation.

    Attributes
    ----------
    name : str
        Name of the interface.
    record : str
        Name and definition of the record type that only this interface has.
    instantiate : str
        Parameters of the function that creates an instance.
    methods : str
        Methods of an instance, one per line.
    """

    name: str
    record: str
    instantiate: str
    methods: str

    @property
    def resource(self) -> str:
        """Name of the WebAssembly resource type that represents an FMU instance."""
        return f"{self.name}-instance"


INTERFACES = (
    Interface(
        "model-exchange",
        "completed-step-result: record<enter-event-mode: bool, terminate-simulation: bool>",
        _INSTANTIATE,
        _METHODS + _ACCESS + _MODEL_EXCHANGE,
    ),
    Interface(
        "co-simulation",
        "do-step-result: record<last-successful-time: f64, event-handling-needed: bool,"
        " terminate-simulation: bool, early-return: bool>",
        f"{_INSTANTIATE}, event-mode-used: bool, early-return-allowed: bool,"
        " required-intermediate-variables: list<value-reference>",
        _METHODS + _ACCESS + _CO_SIMULATION,
    ),
)


def full_name(interface: str) -> str:
    """Return the name by which hosts look up an interface: package, interface name and version."""
    return f"{PACKAGE}/{interface}@{VERSION}"


@dataclass(frozen=True)
class Type:
    """Type in an interface definition, such as `list<u8>`; it consists of a name and type arguments.

    Attributes
    ----------
    name : str
        Name of a primitive type, of a defined type or of a constructor such as `list`.
    parts : tuple
        Pair of label and type for each type argument. The label is empty if the argument has none. The
        result type of a function, which follows an arrow, has the label `->`.
    """

    name: str
    parts: tuple[tuple[str, Type], ...] = ()


_TOKEN = re.compile(r"->|[a-z][a-z0-9-]*[a-z0-9]|[<>,:]")


@cache
def definitions(text: str) -> Mapping[str, Type]:
    """Return all type definitions in a text as a mapping from names to types."""
    tokens = _TOKEN.findall(text)[::-1]
    found = {}
    while tokens:
        label, found_type = _part(tokens)
        found[label] = found_type
    return found


def _part(tokens: list[str]) -> tuple[str, Type]:
    label = ""
    if tokens[-1] == "->" or (len(tokens) > 1 and tokens[-2] == ":"):
        label = tokens.pop()
        if label != "->":
            tokens.pop()
    name, parts = tokens.pop(), []
    if tokens and tokens[-1] == "<":
        tokens.pop()
        while tokens[-1] != ">":
            parts.append(_part(tokens))
            if tokens[-1] == ",":
                tokens.pop()
        tokens.pop()
    return label, Type(name, tuple(parts))
