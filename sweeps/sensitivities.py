"""Sensitivity analysis of objectives with SALib.

Measures are Sobol indices, Morris' elementary effects, or first-order indices from arbitrary
samples.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.trajectory import Array
from .points import SweepPoints, salib, unit_problem

# Sensitivities from arbitrary samples require at least this number of successful runs per varied key.
_LEAST = 20
# For k varied keys, each sample of a Saltelli or Morris design consists of k plus this number of runs.
_MORE = {"saltelli": 2, "morris": 1}


@dataclass(frozen=True)
class Sensitivities:
    """Sensitivities of an objective to the varied keys.

    Attributes
    ----------
    method : str
        Name of the method.
    keys : tuple of str
        Varied keys.
    measures : mapping
        Value of the measure for each key, shape (keys,), by name of the measure.
    spread : mapping
        Half-widths of the 95 % confidence intervals, shape (keys,), by name of the measure.
    used : int
        Number of successful runs that were used.
    """

    method: str
    keys: tuple[str, ...]
    measures: Mapping[str, Array]
    spread: Mapping[str, Array]
    used: int


def sensitivities(points: SweepPoints, sampler: str, values: Array, seed: int = 0) -> Sensitivities | str:
    """Return the sensitivities of an objective, or the reason why they cannot be computed.

    Parameters
    ----------
    points : SweepPoints
        Parameter values of all runs.
    sampler : str
        Sampling method of the runs.
    values : ndarray, shape (runs,)
        Objective of each run; NaN or infinite for a failed run.
    seed : int
        Seed of the random numbers for the confidence intervals.

    Raises
    ------
    MissingToolError
        If SALib is not installed.
    """
    drawn = points.distributions
    if not drawn:
        return "sensitivities require keys with a distribution; all keys have listed values"
    if len(points) != len(points.quantiles):
        return "sensitivities require samples without a grid; this sweep combines samples with a grid"
    salib()
    size = len(drawn) + _MORE[sampler] if sampler in _MORE else 1
    whole = np.all(np.isfinite(values.reshape(-1, size)), axis=1)
    kept = np.repeat(whole, size)
    quantiles, found = points.quantiles[kept], values[kept]
    if len(found) < size * 2 or np.ptp(found) <= 1e-12 * np.max(np.abs(found)):
        return "the objective does not vary" if len(found) else "too few runs were successful"
    if sampler not in _MORE and len(found) < _LEAST * len(drawn):
        return f"expected at least {_LEAST} samples per key, got {len(found)} for {len(drawn)}"
    keys, problem = tuple(d.key for d in drawn), unit_problem(len(drawn))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        method: Callable[..., Sensitivities] = _METHODS.get(sampler, _first_order)
        return method(keys, problem, quantiles, found, seed)


def _sobol(keys: tuple[str, ...], problem: dict[str, Any], x: Array, y: Array, seed: int) -> Sensitivities:
    """Compute first-order and total Sobol indices (Sobol 2001, estimators of Saltelli 2010)."""
    from SALib.analyze import sobol

    scaled = (y - y.mean()) / y.std()
    found = sobol.analyze(problem, scaled, calc_second_order=False, seed=seed)
    measures = {"first order": found["S1"], "total": found["ST"]}
    spread = {"first order": found["S1_conf"], "total": found["ST_conf"]}
    return Sensitivities("Sobol indices", keys, measures, spread, len(y))


def _morris(keys: tuple[str, ...], problem: dict[str, Any], x: Array, y: Array, seed: int) -> Sensitivities:
    """Compute mean and scatter of elementary effects (Morris 1991, Campolongo 2007)."""
    from SALib.analyze import morris

    found = morris.analyze(problem, (x - 0.125) / 0.75, y, num_levels=4, seed=seed)
    star, sigma = (np.asarray(found[name], dtype=float) for name in ("mu_star", "sigma"))
    measures, spread = {"mean effect": star, "its scatter": sigma}, {"mean effect": found["mu_star_conf"]}
    return Sensitivities("Morris' elementary effects", keys, measures, spread, len(y))


def _first_order(keys: tuple[str, ...], problem: dict[str, Any], x: Array, y: Array, seed: int) -> Sensitivities:
    """Compute first-order indices from arbitrary samples by random balance designs.

    See Tissot and Prieur 2012.
    """
    from SALib.analyze import rbd_fast

    found = rbd_fast.analyze(problem, x, y, seed=seed)
    measures, spread = {"first order": found["S1"]}, {"first order": found["S1_conf"]}
    method = "first-order indices, estimated from the samples; the sampler saltelli also yields total indices"
    return Sensitivities(method, keys, measures, spread, len(y))


_METHODS: dict[str, Callable[..., Sensitivities]] = {"saltelli": _sobol, "morris": _morris}
