"""Modes of a mechanism as functions of time, or of a value in the description.

Only one FMU is compiled for all values that lead to equal equations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ..analysis.system import System, assemble_system
from ..core.errors import DescriptionError, Problem
from ..core.progress import Progress
from ..core.ranges import finite, numbers_of
from ..core.trajectory import Array
from ..description import Description
from ..description.load import from_data, tables_of
from ..fmu.backends import native
from ..generator import variables
from ..generator.modelica import digest
from ..language.suggest import unknown
from ..options.linear import ModesAlongOptions, StateOptions
from ..runs.fmpy_runs.inputs import inputs_of
from ..runs.fmpy_runs.states import State
from .held import motions_held, notes_on_choice
from .linearize import chosen_point, linearized
from .modes import Mode
from .point import Plant, checked
from .state_space import StateSpace
from .tracks import ModeTracks, tracks

TIME = "t"
_MOST = 10_000  # A linear model is computed for at most this many values of the varied parameter or of time.


def along_of(text: str) -> tuple[str, list[float]]:
    """Return key and values from a text of the form `KEY=first:last:count` or `KEY=a,b,c`.

    Raises
    ------
    DescriptionError
        If the text has another form.
    """
    key, _, values = (part.strip() for part in text.partition("="))
    if not key or not values:
        wanted = "KEY=first:last:count or KEY=a,b,c with `t` or a description key, such as payload=100:1000:10"
        raise DescriptionError("along", f"expected {wanted}, got {text.strip()[:80]!r}")
    try:
        found = numbers_of(values, _MOST) if values.count(":") == 2 else [finite(x) for x in values.split(",")]
    except ValueError as error:
        raise DescriptionError("along", [Problem(key, str(error))]) from None
    return key, found


def modes_along(model: System, source: str, options: ModesAlongOptions) -> ModeTracks:
    """Compute modes at several times or values of a description key, and track the modes by their shapes.

    Parameters
    ----------
    model
        Mechanism with its equations.
    source
        Name of the description, for messages.
    options
        Varied quantity (time or a description key), its values, and the operating point.

    Raises
    ------
    DescriptionError
        For invalid keys, values and states.
    SolveError
        If the equations have no solution.
    """
    key, numbers = options.key, [float(value) for value in np.ravel(np.asarray(options.values, dtype=float))]
    _check(options, numbers, model.chain)
    inputs = inputs_of(model, options.inputs)
    with TemporaryDirectory() as folder:
        plants = _Plants(Path(folder), options.progress)
        modes, masses, said = list[tuple[Mode, ...]](), list[Array](), list[tuple[str, ...]]()
        places = _places(model, source, options, numbers)
        for k, (machine, at) in enumerate(places):
            plant = plants.of(motions_held(machine) if options.trim else machine)
            options.progress("linearising", k / len(places))
            space = linearized(plant, chosen_point(plant, at, inputs, trim=options.trim))
            space = notes_on_choice(machine, space, options)
            modes.append(space.modes())
            masses.append(_mass(machine, space))
            said.append(space.notes)
    if not any(modes):
        raise DescriptionError(source, "the mechanism has no modes, because it has no degrees of freedom")
    found = tracks(key, _unit(model.chain, key), numbers, modes, masses)
    return replace(found, notes=(*found.notes, *_together(key, numbers, said)))


def _places(
    model: System, source: str, options: ModesAlongOptions, numbers: Sequence[float]
) -> list[tuple[System, State | float]]:
    """Return the mechanism and the operating point for each value of the varied quantity.

    The operating point is a state, or a time in s. If it is a time, the state is later taken from a run up
    to this time.
    """
    if options.key == TIME:
        return [(model, checked(model, StateOptions(time=t))) for t in numbers]
    chains = [_changed(model.chain, source, options.key, value) for value in numbers]
    machines = []
    for k, chain in enumerate(chains):
        options.progress("deriving equations", k / len(chains))
        machines.append(assemble_system(chain, source))
    _check_coordinates(options.key, machines)
    return [(machine, checked(machine, options)) for machine in machines]


def _together(key: str, values: Sequence[float], said: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield one summary for each kind of note about the linear models.

    There is one linear model for each value of the varied quantity. The summary contains the number of
    values for which a note of this kind occurs, and the text of the first of these notes.
    """
    kinds: dict[str, list[tuple[float, str]]] = {}
    for value, notes in zip(values, said, strict=True):
        for note in notes:
            kinds.setdefault(re.split("[:,]", note)[0], []).append((value, note))
    for found in kinds.values():
        value, note = found[0]
        yield f"at {len(found)} of {len(values)} values, {key} = {value:g} the first: {note}"


@dataclass
class _Plants:
    """Compiled FMUs in a folder, one per set of equations, identified by a hash of the equations."""

    folder: Path
    progress: Progress
    built: dict[str, tuple[Path, dict[str, float]]] = field(default_factory=dict)

    def of(self, model: System) -> Plant:
        """Return an FMU with the model's equations and parameter values; compile it if necessary."""
        program, own = model.native_program, variables.parameters(model.native_program)
        numberless = [replace(p, value=np.zeros_like(p.value)) for p in program.parameters]
        structure = digest(replace(program, parameters=numberless))
        if structure not in self.built:
            self.progress("compiling the FMU", 0.0)
            folder = self.folder / str(len(self.built))
            folder.mkdir()
            self.built[structure] = (native.build_bare(model, folder), own)
        fmu, known = self.built[structure]
        return Plant(model, fmu, {name: value for name, value in own.items() if value != known[name]})


def _check(options: ModesAlongOptions, values: Sequence[float], chain: Description) -> None:
    key = options.key
    steps, known = np.diff(values), [TIME, *chain.parameters]
    problems = []
    if "." not in key and key not in known:
        text = unknown("parameter", key, known)
        remedy = "if another key is meant, write the full path, such as links.boom.mass"
        problems.append(Problem(key, f"{text}; {remedy}"))
    if not (np.isfinite(values).all() and len(values) > 1 and (np.all(steps > 0) or np.all(steps < 0))):
        shown = ", ".join(f"{value:g}" for value in values[:5])
        problems.append(
            Problem(key, f"expected at least two values in increasing or decreasing order, got {shown}")
        )
    if len(values) > _MOST:
        problems.append(Problem(key, f"expected at most {_MOST} values, got {len(values)}"))
    if key == TIME and options.given:
        text = "the values of t choose the states of the run; remove the options time, state, equilibrium and trim"
        problems.append(Problem(key, text))
    if problems:
        raise DescriptionError("along", problems)


def _changed(chain: Description, source: str, key: str, value: float) -> Description:
    place = f"parameters.{key}" if key in chain.parameters else key
    # Integer-valued keys of a description, such as counts, reject floating-point values.
    number = int(value) if value.is_integer() else value
    return from_data(tables_of(chain), source=source, changes={place: number})


def _check_coordinates(key: str, models: Sequence[System]) -> None:
    named = [tuple(c.name for c in model.mechanism.coordinates) for model in models]
    if len(set(named)) > 1:
        counts = ", ".join(str(len(names)) for names in dict.fromkeys(named))
        text = (
            f"the key changes the number or names of coordinates ({counts}), so that shapes cannot be compared;"
            " choose another key"
        )
        raise DescriptionError("along", [Problem(key, text)])


def _mass(model: System, space: StateSpace) -> Array:
    numbers = model.problem.model
    return numbers.mass(numbers.state(space.time, space.q, np.zeros_like(space.q)).posture)[0]


def _unit(chain: Description, key: str) -> str:
    name = key.removeprefix("parameters.")
    if key == TIME:
        return "s"
    return (chain.parameters[name].unit or "") if name in chain.parameters else ""
