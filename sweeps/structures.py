"""FMUs of a sweep, and the FMU parameters that set the varied keys.

If a varied key accepts an expression, a new FMU parameter replaces the value of the key. All runs
then use the same FMU and set this parameter. Keys may also name existing FMU parameters, such as
`payload` or `column_angle_start`. All other keys change the structure of the model. One FMU is
compiled for each combination of the values of these other keys.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..analysis.system import System, assemble_system
from ..core.errors import DescriptionError, GpmelicaError, Problem
from ..core.progress import Progress
from ..core.recalled import fingerprint
from ..core.version import __version__
from ..description import Description
from ..description.contents import contents
from ..description.load import from_data, tables_of
from ..fmu.backends.native import build_bare
from ..generator import variables
from ..language.suggest import alternatives, unknown
from ..runs.attempts import solver_tolerance
from ..runs.fmpy_runs.opening import read_fmu
from ..runs.fmpy_runs.repeated import Span
from .runs import VIOLATION, Setup
from .variations import Distribution, Values, Variation


@dataclass(frozen=True)
class Structure:
    """One FMU of a sweep, with the FMU parameters that set the varied keys.

    A sweep has one FMU for each combination of structural values. Structural values are values of
    varied keys that change the equations, such as a number of beam elements.

    Attributes
    ----------
    name : str
        Name of the folder with the FMU, different for each FMU of the sweep.
    values : mapping
        Value of each key that changes the equations.
    parameters : mapping
        Name of an FMU parameter for each varied key that does not change the equations. The
        parameter sets the value of the key.
    tables : mapping
        Tables of the description, in which expressions of FMU parameters replace the varied values.
    prepared : System
        Equations of the FMU.
    run : Span
        Time span and tolerance of a run.
    checked : mapping
        Entries of `tables` that depend on the varied keys; they are checked before each run.
    """

    name: str
    values: Mapping[str, Any]
    parameters: Mapping[str, str]
    tables: Mapping[str, Any]
    prepared: System
    run: Span
    checked: Mapping[str, Any] = field(default_factory=dict)

    @property
    def outputs(self) -> dict[str, str]:
        """Unit of each output of the FMU, by name of the output."""
        return self.prepared.units

    @property
    def constants(self) -> list[str]:
        """Names of the FMU's parameters; objectives may contain these names."""
        return list(variables.parameters(self.prepared.native_program))


def structures(
    chain: Description, source: str, variations: Sequence[Variation], progress: Progress
) -> tuple[Structure, ...]:
    """Return one FMU with its equations for each combination of structural values of a sweep.

    Structural values belong to varied keys that change the equations, such as a number of beam
    elements.

    Raises
    ------
    DescriptionError
        If keys or values are invalid.
    """
    tables, base = tables_of(chain), assemble_system(chain, source)
    kinds = {v.key: _kind(v, tables, base) for v in variations}
    problems = [problem for found in kinds.values() if isinstance(found, list) for problem in found]
    problems += _named_twice({key: kind for key, kind in kinds.items() if isinstance(kind, _Key)})
    if problems:
        raise DescriptionError(source, problems)
    keys = [kind for kind in kinds.values() if isinstance(kind, _Key)]
    structural = [v for v in variations if isinstance(v, Values) and kinds[v.key] is None]
    combinations = list(itertools.product(*(v.values for v in structural)))
    made = []
    for number, combination in enumerate(combinations):
        progress("deriving equations", number / len(combinations))
        chosen = dict(zip((v.key for v in structural), combination, strict=True))
        made.append(_structure(tables, source, chosen, keys))
    return tuple(made)


def build(structure: Structure, folder: Path) -> Path:
    """Build an FMU of a sweep, unless it exists in the folder, and return its path."""
    fmu = folder / structure.name / f"{structure.prepared.name}.fmu"
    if _is_whole(fmu):
        return fmu
    return build_bare(structure.prepared, fmu.parent)


def setup(structure: Structure, fmu: Path) -> Setup:
    """Return the data that worker processes need about one compiled FMU of a sweep."""
    return Setup(
        fmu.read_bytes(),
        structure.parameters,
        structure.run,
        frozenset(structure.constants),
        VIOLATION in structure.outputs,
        {f.name: f.signal("value").name for f in structure.prepared.mechanism.filters},
    )


def _is_whole(fmu: Path) -> bool:
    try:
        return fmu.is_file() and bool(read_fmu(fmu))
    except GpmelicaError:
        return False


@dataclass(frozen=True)
class _Key:
    """Varied key of the description whose value an FMU parameter sets in each run.

    If the key requires a new parameter, the attribute `changes` contains the changes of the
    description that introduce the parameter.
    """

    key: str
    parameter: str
    changes: Mapping[str, Any] = field(default_factory=dict)


def _kind(variation: Variation, tables: dict[str, Any], base: System) -> _Key | list[Problem] | None:
    """Find the FMU parameter that sets the value of a varied key.

    Returns
    -------
    _Key, list of Problem, or None
        The key with its FMU parameter. A list of problems if the key or its values are invalid.
        None if the key changes the equations, so that each value requires an FMU.
    """
    key = variation.key
    known = variables.parameters(base.native_program)
    given = re.fullmatch(r"parameters\.(\w+)(\.value)?", key)
    name = given[1] if given else key
    if name in known:
        return _wrong_numbers(variation) or _Key(key, name)
    if given and name not in tables.get("parameters", {}):
        return [Problem(f"--set {key}", unknown("parameter", name, [*tables.get("parameters", {}), *known]))]
    wrong = _wrong_values(variation, tables, base)
    if wrong and not (isinstance(variation, Distribution) and _is_key(key, tables)):
        return wrong
    parameter = "set_" + re.sub(r"\W+", "_", key.replace("*", "all")).strip("_")
    first = _some(variation)
    if isinstance(first, int | float) and not isinstance(first, bool):
        added = {**tables.get("parameters", {}), parameter: float(first)}
        changes = {"parameters": added, key: parameter}
        found = _problems(tables, changes)
        if not found:
            return _wrong_numbers(variation) or _Key(key, parameter, changes)
        if wrong and not any(isinstance(variation, Distribution) and _structural(problem) for problem in found):
            return wrong
    if isinstance(variation, Distribution):
        text = (
            f"is part of the FMU's structure and cannot be drawn from {variation}; list a few values a,b,c, for"
            " each of which an FMU is compiled"
        )
        return [Problem(f"--set {key}", text + _start_of(key, base))]
    return None


def _is_key(key: str, tables: dict[str, Any]) -> bool:
    return not any(
        "there is no key" in p.message or "unknown key" in p.message for p in _problems(tables, {key: {}})
    )


def _structural(problem: Problem) -> bool:
    """Return whether an error is due to a varied key that does not accept an expression.

    In the checked description, a parameter with the prefix `set_` replaces the value of the key. If the
    key does not accept an expression, the error message contains the name of this parameter.
    """
    return "'set_" in problem.message


def _start_of(key: str, base: System) -> str:
    """Return the end of an error message that suggests the FMU's parameters for initial values.

    The text is empty unless the key is an initial position or velocity of a joint.
    """
    match = re.fullmatch(r"links\.(\w+)\.joint\.(position|velocity)(\.\d+)?", key)
    dot = "_dot" if match and match[2] == "velocity" else ""
    names = [c.symbol for c in base.mechanism.coordinates if match and c.owner == match[1]]
    return f", or set {' or '.join(f'{name}{dot}_start' for name in names)}" if names else ""


def _some(variation: Variation) -> Any:
    """Return a typical value of a varied key, with which the description is checked."""
    return variation.values[0] if isinstance(variation, Values) else variation.middle


def _wrong_numbers(variation: Variation) -> list[Problem]:
    if isinstance(variation, Distribution):
        return []
    wrong = [v for v in variation.values if isinstance(v, bool) or not isinstance(v, int | float)]
    return [Problem(f"--set {variation.key}", f"expected numbers, got {wrong[0]!r}")] if wrong else []


def _wrong_values(variation: Variation, tables: dict[str, Any], base: System) -> list[Problem]:
    """Return the errors in a varied key and its values.

    If there are more than 100 values, only the first and the last value are checked.
    """
    key = variation.key
    if not isinstance(variation, Values):
        found = _problems(tables, {key: variation.middle})
        return _said(key, found, tables, base)
    values = variation.values if len(variation.values) <= 100 else (variation.values[0], variation.values[-1])
    for value in values:
        found = _problems(tables, {key: value})
        if found:
            return _said(key, found, tables, base)
    return []


def _said(key: str, found: Sequence[Problem], tables: Mapping[str, Any], base: System) -> list[Problem]:
    if not any("there is no key" in problem.message or "unknown key" in problem.message for problem in found):
        return [Problem(f"--set {key}", _led(problem)) for problem in found]
    if "." in key:
        return [Problem(f"--set {key}", found[0].message)]
    known = list(
        dict.fromkeys([*tables.get("parameters", {}), *tables, *variables.parameters(base.native_program)])
    )
    text = f"there is no parameter or key {key!r}; {alternatives(key, known)}"
    return [Problem(f"--set {key}", text)]


def _led(problem: Problem) -> str:
    return problem.message.replace("lead to", "leads to", 1) if problem.where == "changes" else str(problem)


def _problems(tables: dict[str, Any], changes: Mapping[str, Any]) -> list[Problem]:
    try:
        from_data(tables, changes=changes)
    except DescriptionError as error:
        return list(error.problems)
    return []


def _named_twice(keys: Mapping[str, _Key]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for key, found in keys.items():
        other = seen.setdefault(found.parameter, key)
        if other != key:
            yield Problem(
                f"--set {key}", f"sets the same parameter as --set {other}; remove one of the two options"
            )


def _structure(tables: dict[str, Any], source: str, values: Mapping[str, Any], keys: Sequence[_Key]) -> Structure:
    changes: dict[str, Any] = dict(values)
    for key in keys:
        parameters = {**changes.get("parameters", {}), **key.changes.get("parameters", {})}
        changes |= {**key.changes, **({"parameters": parameters} if parameters else {})}
    try:
        chain = from_data(tables, source=source, changes=changes)
        prepared = assemble_system(chain, source)
    except DescriptionError as error:
        raise DescriptionError(source, [_with_values(problem, values) for problem in error.problems]) from None
    simulation = chain.simulation
    made = tables_of(chain)
    name = fingerprint([__version__, contents(chain)])[:12]
    run = Span(simulation.stop, simulation.output_step, solver_tolerance(simulation.tolerance, "cs"))
    parameters, known = {key.key: key.parameter for key in keys}, variables.parameters(prepared.native_program)
    missing = [key for key, parameter in parameters.items() if parameter not in known]
    if missing:
        text = f"the FMU has no parameter {parameters[missing[0]]}{_told(values)}, because nothing depends on it"
        raise DescriptionError(source, [Problem(f"--set {missing[0]}", text)])
    added = {name for name in parameters.values() if name in made.get("parameters", {})}
    return Structure(name, values, parameters, made, prepared, run, _parts_that_use(made, added))


def _with_values(problem: Problem, values: Mapping[str, Any]) -> Problem:
    return Problem(problem.where, problem.message + _told(values)) if values else problem


def _told(values: Mapping[str, Any]) -> str:
    """Return the end of an error message: a list of varied keys and their values.

    An example is `, with links.boom.beam.elements = 2`. The text is empty if `values` is empty.
    """
    said = ", ".join(f"{key} = {value!r}" for key, value in values.items())
    return f", with {said}" if values else ""


def _parts_that_use(tables: Mapping[str, Any], parameters: set[str]) -> dict[str, Any]:
    """Return the entries of a description that depend on the given parameters.

    The result also contains all parameters that these entries use. The result is empty if no entry
    depends on the given parameters.
    """
    kept: dict[str, Any] = {}
    for key in ("base", "gravity", *(key for key, value in tables.items() if isinstance(value, list))):
        entry = tables.get(key)
        if isinstance(entry, list) and key != "gravity":
            found = [item for item in entry if _mentions(item, parameters)]
            kept |= {key: found} if found else {}
        elif entry is not None and _mentions(entry, parameters):
            kept[key] = entry
    for key in ("points", "tables"):
        found_of = {name: item for name, item in tables.get(key, {}).items() if _mentions(item, parameters)}
        kept |= {key: found_of} if found_of else {}
    if not kept:
        return {}
    known = tables["parameters"].items()
    used = {name: entry for name, entry in known if name in parameters or _mentions(kept, {name})}
    return {"schema": 1, "name": tables["name"], "parameters": used, **kept}


def _mentions(value: Any, names: set[str]) -> bool:
    if isinstance(value, dict):
        return any(_mentions(inner, names) for inner in value.values())
    if isinstance(value, list):
        return any(_mentions(inner, names) for inner in value)
    return isinstance(value, str) and any(word in names for word in re.findall(r"\w+", value))
