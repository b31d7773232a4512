"""One random mechanism: the oracle held against Pinocchio, or against the reference with every key."""

from __future__ import annotations

import time

import numpy as np
from helpers_oracle import Oracle, relative_errors
from helpers_time import alarm

from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.errors import DescriptionError
from gpmelica.description.load import from_data
from gpmelica.oracle.checks.start import check_start
from gpmelica.tasks.second_opinion import given
from machines.derivations import _LONGEST, _REFUSALS, _TIMES, _reference, _state
from machines.equipment import equipped
from machines.families import Machine, machine
from machines.trial import Trial


def second_opinion(seed: int) -> Trial:
    """Return the trial of a seed: even ones with every key, odd ones of the families.

    The answer's `generated` is the error of accelerations, `reference` that of all outputs (0 for the families);
    what the oracle says against its start counts as a crash.
    """
    begin = time.perf_counter()
    if seed % 2:
        drawn = machine(seed // 2, 40)
        return _tried(seed, begin, drawn.family, drawn.data, drawn)
    return _tried(seed, begin, "equipped", equipped(seed // 2, 16), None)


def _tried(seed: int, begin: float, family: str, data: dict, drawn: Machine | None) -> Trial:  # type: ignore[type-arg]
    rank, n, errors, crash = -1, 0, (0.0, 0.0), ""
    try:
        with alarm(_LONGEST):
            model = assemble_system(from_data(data))
            rank, n = model.solvability.rank, model.mechanism.n
            errors = _of_family(model, drawn) if drawn is not None else _of_equipped(model, seed // 2)
            crash = "; ".join(check_start(*given(model)))
    except DescriptionError as error:
        crash = "" if any(words in str(error) for words in _REFUSALS) else f"DescriptionError: {error}"
    except Exception as error:
        crash = f"{type(error).__name__}: {error}"
    form = data["constraints"]["formulation"]
    return Trial(seed, family, form, n, rank, rank, *errors[::-1], crash, time.perf_counter() - begin)


def _of_family(model: System, drawn: Machine) -> tuple[float, float]:
    oracle, worst = Oracle(model), 0.0
    names = [f"{c.symbol}_ddot" for c in model.mechanism.coordinates]
    for t, q, qd in drawn.states:
        found = oracle.outputs(t, q, qd, np.zeros(0))
        worst = max(worst, drawn.oracle(t, q, qd).error(np.array([found[name] for name in names])))
    return worst, 0.0


def _of_equipped(model: System, seed: int) -> tuple[float, float]:
    rng, oracle, worst = np.random.default_rng([seed, 7]), Oracle(model), [(0.0, 0.0)]
    for k, t in enumerate(_TIMES):
        q, qd, z = _state(model, rng, 0.1 * bool(k))
        inputs = {entry.name: entry.start + 0.1 * float(rng.normal()) for entry in model.program.inputs}
        exact = _reference(model, (t, q, qd, z), inputs)
        if exact:
            found = oracle.outputs(t, q, qd, z, inputs)
            assert set(found) == set(exact), f"not both: {sorted(set(found) ^ set(exact))}"
            errors = relative_errors(model, exact, found)
            accelerations = [errors[f"{c.symbol}_ddot"] for c in model.mechanism.coordinates]
            worst.append((max(accelerations), max(errors.values())))
    first, second = np.max(worst, axis=0)
    return float(first), float(second)
