"""Courses of signals over one communication step.

A course is a polynomial of degree 3 in s = (time − begin of the step)/(length of the step), 0 ≤ s ≤ 1. Arrays of n
courses have the shape (n, 4): the coefficients of 1, s, s² and s³, each in the signal's unit.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..core.trajectory import Array

# rows: value and h·slope at s = 0, value and h·slope at s = 1; columns: coefficients
_HERMITE = np.array([[1.0, 0, -3, 2], [0, 1, -2, 1], [0, 0, 3, -2], [0, 0, -1, 1]])
# rows: rise of the value, h·slope at s = 1, mean above the value at s = 0; columns: coefficients of s, s² and s³
_MEAN_CUBIC = np.linalg.inv(np.array([[1.0, 1, 1], [1, 2, 3], [1 / 2, 1 / 3, 1 / 4]])).T
_END, _RISE = np.ones(4), np.arange(4.0)
_MEAN = 1.0 / np.arange(1, 5)
_MOMENTS = 1.0 / (np.add.outer(np.arange(4), np.arange(4)) + 1.0)


def constant(values: Array) -> Array:
    """Courses that keep `values`, shape (n,), over the step."""
    found = np.zeros((len(values), 4))
    found[:, 0] = values
    return found


def linear(begin: Array, end: Array) -> Array:
    """Courses that join two values, each of shape (n,), by a straight line."""
    found = constant(begin)
    found[:, 1] = end - begin
    return found


def hermite(begin: Array, rise: Array, end: Array, final_rise: Array) -> Array:
    """Cubic courses by values and by slopes times the step's length, each of shape (n,)."""
    return np.asarray(np.array([begin, rise, end, final_rise]).T @ _HERMITE)


def with_means(begin: Array, end: Array, final_rise: Array, mean: Array) -> Array:
    """Cubic courses by values, the final slope times the step's length, and means, each of shape (n,)."""
    found = constant(begin)
    found[:, 1:] = np.array([end - begin, final_rise, mean - begin]).T @ _MEAN_CUBIC
    return found


def ends(courses: Array) -> Array:
    """Values at the end of the step, shape (n,)."""
    return np.asarray(courses @ _END)


def end_rises(courses: Array) -> Array:
    """Slopes at the end of the step times its length, shape (n,)."""
    return np.asarray(courses @ _RISE)


def means(courses: Array) -> Array:
    """Mean values over the step, shape (n,)."""
    return np.asarray(courses @ _MEAN)


def work(first: Array, second: Array) -> Array:
    """Means of the products of courses over the step, pair by pair, shape (n,)."""
    return np.asarray(((first @ _MOMENTS) * second).sum(axis=1))


def at(courses: Array, s: Array) -> Array:
    """Values at the points `s`, shape (k,); returns shape (n, k)."""
    return np.asarray(courses @ np.vander(s, 4, increasing=True).T)


def part(courses: Array, begin: float, length: float) -> Array:
    """Courses over another interval, from s = begin to begin + length, as polynomials of its own s."""
    return np.asarray(courses @ _substitution(begin, length))


@lru_cache(maxsize=256)
def _substitution(begin: float, length: float) -> Array:
    """Matrix that substitutes s = begin + length·s′, shape (4, 4)."""
    b, a = begin, length
    return np.array(
        [[1.0, 0, 0, 0], [b, a, 0, 0], [b**2, 2 * b * a, a**2, 0], [b**3, 3 * b**2 * a, 3 * b * a**2, a**3]]
    )


def through(times: tuple[float, ...], values: Array) -> Array:
    """Courses of lowest degree through values at up to four points s; shapes (k,) and (n, k)."""
    return np.asarray(values @ _interpolation(times))


@lru_cache(maxsize=256)
def _interpolation(times: tuple[float, ...]) -> Array:
    """Matrix from values at the points to coefficients, shape (k, 4)."""
    found = np.zeros((len(times), 4))
    found[:, : len(times)] = np.linalg.inv(np.vander(np.array(times), len(times), increasing=True)).T
    return found
