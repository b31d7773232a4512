"""One random mechanism with every key: reference and generated equations held against each other."""

from __future__ import annotations

import time
from collections import defaultdict

import numpy as np
from helpers_stages import StagedModel
from helpers_time import alarm
from numpy.typing import NDArray

from gpmelica.analysis import ReferenceModel, formulation
from gpmelica.analysis.along.signals import Moment, RequestedForces, signals
from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.errors import DescriptionError
from gpmelica.description.load import from_data
from gpmelica.reference.forces.joint_loads import all_links
from gpmelica.reference.integration.motion import FormulatedModel
from machines.equipment import equipped
from machines.trial import Trial

Array = NDArray[np.float64]

_LONGEST = 60.0  # s
_SMALLEST = 1e-3  # of the singular values of C, rows and columns scaled, of a state that is worth a look
_WORST = 1e7  # condition of M, its diagonal scaled to 1
_TIMES = (0.0, 0.13, 0.31, 0.44)
# what random rows may be refused for
_REFUSALS = ("cannot be reached", "contradict each other", "no joint can change", "is closed only by")


def derivations(seed: int, largest: int = 16) -> Trial:
    """The seed's equipped mechanism: q̈ and all outputs where it starts, moving, and in three states near by.

    The answer's `generated` is the error of q̈, `reference` that of the outputs, by the largest one of their unit.
    A mechanism that is refused for what its random rows ask has the rank −1.
    """
    begin, data = time.perf_counter(), equipped(seed, largest)
    rank, errors, crash, n = -1, (0.0, 0.0), "", 0
    try:
        with alarm(_LONGEST):
            model = assemble_system(from_data(data))
            rank, n, errors = model.solvability.rank, model.mechanism.n, _errors(model, seed)
    except DescriptionError as error:
        crash = "" if any(words in str(error) for words in _REFUSALS) else f"DescriptionError: {error}"
    except Exception as error:
        crash = f"{type(error).__name__}: {error}"
    form = data["constraints"]["formulation"]
    return Trial(seed, "equipped", form, n, rank, rank, *errors[::-1], crash, time.perf_counter() - begin)


def _errors(model: System, seed: int) -> tuple[float, float]:
    rng, staged = np.random.default_rng([seed, 7]), StagedModel(model)
    worst = [(0.0, 0.0)]
    for k, t in enumerate(_TIMES):
        q, qd, z = _state(model, rng, 0.1 * bool(k))
        inputs = {entry.name: entry.start + 0.1 * float(rng.normal()) for entry in model.program.inputs}
        exact = _reference(model, (t, q, qd, z), inputs)
        if exact:
            found = staged(t, q, qd, inputs, z).outputs
            worst.append(_compared(model, exact, found))
    first, second = np.max(worst, axis=0)
    return float(first), float(second)


def _state(model: System, rng: np.random.Generator, share: float) -> tuple[Array, Array, Array]:
    """Near the start: q, q̇, (n,), and states of bristles and filters."""
    coordinates = model.mechanism.coordinates
    length = model.chain.parameter_values["L"]
    units = np.array([1.0 if model.units[c.symbol] == "rad" else length for c in coordinates])
    bristles = [0.01 * unit for c, unit in zip(coordinates, units, strict=True) if c.friction is not None]
    filters = [0.1, 0.3] * len(model.mechanism.filters)
    q, qd = (
        part + by * rng.normal(size=len(units)) * units for part, by in zip(model.start, (share, 0.1), strict=True)
    )
    z = rng.normal(size=len(bristles) + len(filters)) * np.array([*bristles, *filters])
    return q, qd, z


def _reference(model: System, at: tuple[float, Array, Array, Array], inputs: dict[str, float]) -> dict[str, float]:
    """All signals, or none where the rows are near a singular position."""
    t, q, qd, z = at
    numbers = ReferenceModel(model.mechanism, start=model.start, inputs=inputs)
    bristles, lag = numbers.further(z)
    form = formulation(numbers, numbers.state(0.0, *model.start), model.dependent)
    state = numbers.state(t, q, qd, lag=lag)
    found = numbers.evaluate(state, form, bristles)
    if not _is_regular(found.M, found.C, model.solvability.rank):
        return {}
    wanted = model.chain.outputs.loads
    joints = numbers.joint_loads(all_links(model.mechanism) if wanted == "all" else wanted)
    moment = Moment(numbers.consistent(state, form), bristles)
    values, _ = signals(
        FormulatedModel(numbers, form), [moment], RequestedForces(joints, wrenches=False, multipliers=False)
    )
    return {name: float(value[0]) for name, value in values.items() if value.ndim}


def _is_regular(M: Array, C: Array, rank: int) -> bool:
    size = np.sqrt(np.diag(M))
    if np.linalg.cond(M / np.outer(size, size)) > _WORST:
        return False
    singular = np.linalg.svd(C / size, compute_uv=False)
    return rank == 0 or bool(singular[rank - 1] > _SMALLEST * singular[0])


def _compared(model: System, exact: dict[str, float], found: dict[str, float]) -> tuple[float, float]:
    """Largest errors of accelerations, and of all outputs, each in the largest one of its unit."""
    names = [output.name for output in model.program.outputs]
    assert set(names) <= set(exact), f"the reference has no {sorted(set(names) - set(exact))}"
    largest: dict[str, float] = defaultdict(lambda: 1e-300)
    for name in names:
        largest[model.units[name]] = max(largest[model.units[name]], abs(exact[name]))
    length = model.chain.parameter_values["L"]
    largest["rad/s"], largest["m/s"] = max(largest["rad/s"], 1e-3), max(largest["m/s"], 1e-3 * length)
    largest["1"] = max(largest["1"], 1e-6 * max(1.0, length))  # what is violated at a start is rounding
    for unit in ("m/s", "m/s2"):  # sums of larger terms leave rounding noise
        turning = unit.replace("m", "rad")
        largest[unit] = max(largest[unit], 1e-3 * length * largest[turning])
        largest[turning] = max(largest[turning], 1e-3 * largest[unit] / length)
    weight = 1e-3 * sum(float(body.mass) for body in model.mechanism.bodies) * largest["m/s2"]
    largest["N"], largest["N.m"] = max(largest["N"], weight), max(largest["N.m"], length * weight)
    errors = {name: abs(found[name] - exact[name]) / largest[model.units[name]] for name in names}
    accelerations = [errors[f"{c.symbol}_ddot"] for c in model.mechanism.coordinates]
    return max(accelerations), max(errors.values())
