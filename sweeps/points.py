"""Parameter values of all runs of a sweep.

Each point of the grid is combined with each sample of the random keys.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import qmc

from ..core.errors import DescriptionError, MissingToolError, Problem
from ..core.trajectory import Array
from .variations import MOST_RUNS, Distribution, Values, Variation


@dataclass(frozen=True)
class SweepPoints:
    """Parameter values of all runs, numbered from 0.

    Runs at the same grid point have consecutive numbers and different samples. The numbers of the grid
    points follow nested loops over the keys of the grid, in which the first key is the outermost loop.

    Attributes
    ----------
    axes : tuple of Values
        Keys of the grid with their values.
    distributions : tuple of Distribution
        Keys with random values.
    quantiles : ndarray, shape (samples, len(distributions))
        Probability levels between 0 and 1; a distribution converts a level to the value of its key.
    """

    axes: tuple[Values, ...]
    distributions: tuple[Distribution, ...]
    quantiles: Array

    @property
    def keys(self) -> tuple[str, ...]:
        """All varied keys: first the keys of the grid, then the keys with distributions."""
        return (*(axis.key for axis in self.axes), *(d.key for d in self.distributions))

    def __len__(self) -> int:
        return math.prod(len(axis.values) for axis in self.axes) * len(self.quantiles)

    def at(self, run: int) -> dict[str, Any]:
        """Return the value of each varied key in the run with the given number."""
        place, sample = divmod(run, len(self.quantiles))
        indices = np.unravel_index(place, [len(axis.values) for axis in self.axes]) if self.axes else ()
        found = {axis.key: axis.values[int(i)] for axis, i in zip(self.axes, indices, strict=True)}
        row = self.quantiles[sample]
        return found | {d.key: float(d.values(row[j])) for j, d in enumerate(self.distributions)}


def points(variations: Sequence[Variation], samples: int | None, sampler: str, seed: int) -> SweepPoints:
    """Combine the grid and the samples of the varied keys.

    Parameters
    ----------
    variations : sequence of Variation
        Varied keys.
    samples : int or None
        Samples per point of the grid. With d random keys, the sampler `saltelli` multiplies this
        number by d + 2, and the sampler `morris` multiplies it by d + 1.
    sampler : str
        Sampling method, one of `SAMPLERS`.
    seed : int
        Seed of the random numbers; equal seeds yield equal samples.

    Raises
    ------
    DescriptionError
        If the arguments contradict each other or result in too many runs.
    """
    axes = tuple(v for v in variations if isinstance(v, Values))
    drawn = tuple(v for v in variations if isinstance(v, Distribution))
    _check(drawn, samples, sampler, seed, math.prod(len(axis.values) for axis in axes))
    quantiles = SAMPLERS[sampler](samples or 1, len(drawn), seed) if drawn else np.empty((1, 0))
    found = SweepPoints(axes, drawn, quantiles)
    _few_enough(len(found))
    return found


def _check(drawn: Sequence[Distribution], samples: int | None, sampler: str, seed: int, grid: int) -> None:
    problems = []
    if seed < 0:
        problems.append(Problem("--seed", f"expected at least 0, got {seed}"))
    if sampler not in SAMPLERS:
        problems.append(Problem("--sampler", f"expected one of {', '.join(SAMPLERS)}, got {sampler!r}"))
    if drawn and samples is None:
        text = f"{drawn[0].key} is drawn from {drawn[0]}; specify the number of samples, as in --samples 500"
        problems.append(Problem("--samples", text))
    if samples is not None and not drawn:
        text = "no key has a distribution; specify one, as in --set payload=normal(500,50)"
        problems.append(Problem("--samples", text))
    if samples is not None and samples < 1:
        problems.append(Problem("--samples", f"expected at least 1, got {samples}"))
    if problems:
        raise DescriptionError("sweep", problems)
    _few_enough(grid * (samples or 1))


def _few_enough(runs: int) -> None:
    if runs > MOST_RUNS:
        raise DescriptionError("sweep", [Problem("--set", f"expected at most {MOST_RUNS} runs, got {runs}")])


def _sobol(samples: int, dimensions: int, seed: int) -> Array:
    with warnings.catch_warnings():  # SciPy warns if the number of samples is not a power of 2.
        warnings.simplefilter("ignore", UserWarning)
        return np.asarray(qmc.Sobol(dimensions, scramble=True, seed=seed).random(samples))


def _latin(samples: int, dimensions: int, seed: int) -> Array:
    return np.asarray(qmc.LatinHypercube(dimensions, seed=seed).random(samples))


def _random(samples: int, dimensions: int, seed: int) -> Array:
    return np.random.default_rng(seed).random((samples, dimensions))


def unit_problem(dimensions: int) -> dict[str, Any]:
    """Return SALib's definition of a problem whose variables are probability levels between 0 and 1."""
    names = [f"x{i}" for i in range(dimensions)]
    return {"num_vars": dimensions, "names": names, "bounds": [[0.0, 1.0]] * dimensions}


def _saltelli(samples: int, dimensions: int, seed: int) -> Array:
    """Return Saltelli's design for first-order and total Sobol indices.

    The design has samples·(dimensions + 2) rows.
    """
    salib()
    from SALib.sample import sobol

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = sobol.sample(unit_problem(dimensions), samples, calc_second_order=False, seed=seed)
    return np.asarray(np.clip(drawn, 1e-12, 1.0 - 1e-12))


def _morris(samples: int, dimensions: int, seed: int) -> Array:
    """Return samples for elementary effects (Morris 1991) at the levels 1/8, 3/8, 5/8 and 7/8.

    The result has samples·(dimensions + 1) rows.
    """
    salib()
    from SALib.sample import morris

    drawn = morris.sample(unit_problem(dimensions), samples, num_levels=4, seed=seed)
    # The sampled levels exclude 0 and 1, at which the quantiles of a normal distribution are infinite.
    return np.asarray(0.125 + 0.75 * drawn)


def salib() -> None:
    """Raise MissingToolError if SALib is not installed."""
    try:
        import SALib  # noqa: F401
    except ImportError:
        raise MissingToolError(
            "the samplers saltelli and morris require SALib: pip install 'gpmelica[sweep]',"
            " or use another --sampler"
        ) from None


SAMPLERS: dict[str, Callable[[int, int, int], Array]] = {
    "sobol": _sobol,
    "lhs": _latin,
    "random": _random,
    "saltelli": _saltelli,
    "morris": _morris,
}
