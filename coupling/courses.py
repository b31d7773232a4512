"""Courses: polynomials that describe signals over one communication step.

A course is a polynomial of degree 3 in the relative time s. The relative time is 0 at the beginning
and 1 at the end of the step. An array of n courses has the shape (n, 4). Its columns are the
coefficients of 1, s, s² and s³, each in the signal's unit.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..core.trajectory import Array

# Each row of this matrix contains the coefficients of 1, s, s² and s³ of one cubic Hermite basis polynomial.
# The Hermite basis polynomials multiply f(0), f'(0), f(1) and f'(1), in this order, to interpolate a function f.
_HERMITE = np.array([[1.0, 0, -3, 2], [0, 1, -2, 1], [0, 0, 3, -2], [0, 0, -1, 1]])
# Each row of this matrix contains the coefficients of s, s² and s³ of a cubic polynomial that is zero at s = 0.
# The three polynomials interpolate f(1), f'(1) and the mean value of f on [0, 1] for a function with f(0) = 0.
_MEAN_CUBIC = np.linalg.inv(np.array([[1.0, 1, 1], [1, 2, 3], [1 / 2, 1 / 3, 1 / 4]])).T
_END, _RISE = np.ones(4), np.arange(4.0)
_MEAN = 1.0 / np.arange(1, 5)
_MOMENTS = 1.0 / (np.add.outer(np.arange(4), np.arange(4)) + 1.0)


def constant(values: Array) -> Array:
    """Return constant polynomials with the given values, shape (n,); the result has the shape (n, 4)."""
    found = np.zeros((len(values), 4))
    found[:, 0] = values
    return found


def linear(begin: Array, end: Array) -> Array:
    """Return linear functions of time between the values at the beginning and at the end of a step.

    The values have shape (n,). The result contains four coefficients per function, shape (n, 4). The
    coefficients of the second and third power of time are zero.
    """
    found = constant(begin)
    found[:, 1] = end - begin
    return found


def hermite(begin: Array, rise: Array, end: Array, final_rise: Array) -> Array:
    """Return cubic polynomials with given values and slopes at both ends of a step, shape (n, 4).

    Parameters
    ----------
    begin, end : values at the beginning and at the end of the step, shape (n,)
    rise, final_rise : slopes at the beginning and at the end, multiplied by the step length, shape
        (n,)
    """
    return np.asarray(np.array([begin, rise, end, final_rise]).T @ _HERMITE)


def with_means(begin: Array, end: Array, final_rise: Array, mean: Array) -> Array:
    """Return cubic polynomials with given values at both ends, final slopes and mean values, shape (n, 4).

    Parameters
    ----------
    begin, end : values at the beginning and at the end of the step, shape (n,)
    final_rise : slopes at the end of the step, multiplied by the step length, shape (n,)
    mean : mean values over the step, shape (n,)
    """
    found = constant(begin)
    found[:, 1:] = np.array([end - begin, final_rise, mean - begin]).T @ _MEAN_CUBIC
    return found


def ends(courses: Array) -> Array:
    """Return the values of n polynomials at the end of a communication step, shape (n,)."""
    return np.asarray(courses @ _END)


def end_rises(courses: Array) -> Array:
    """Return the slopes of n polynomials at the end of a step, multiplied by the step length, shape (n,)."""
    return np.asarray(courses @ _RISE)


def means(courses: Array) -> Array:
    """Return the mean values of n polynomials over a communication step, shape (n,)."""
    return np.asarray(courses @ _MEAN)


def work(first: Array, second: Array) -> Array:
    """Return the mean of first[k]·second[k] over one step for n pairs of polynomials, shape (n,)."""
    return np.asarray(((first @ _MOMENTS) * second).sum(axis=1))


def at(courses: Array, s: Array) -> Array:
    """Return the values of n polynomials at k relative times, shape (n, k).

    The relative times `s` are 0 at the beginning and 1 at the end of the communication step.
    """
    return np.asarray(courses @ np.vander(s, 4, increasing=True).T)


def part(courses: Array, begin: float, length: float) -> Array:
    """Return n polynomials on a section of a step, as functions of a new relative time, shape (n, 4).

    The section begins at s = begin and ends at s = begin + length, where s is the old relative
    time. The new relative time is 0 at the beginning and 1 at the end of the section.
    """
    return np.asarray(courses @ _substitution(begin, length))


@lru_cache(maxsize=256)
def _substitution(begin: float, length: float) -> Array:
    """Return the matrix that converts coefficients of a cubic in s to those of a cubic in s′.

    The variables are related by s = begin + length·s′.
    """
    b, a = begin, length
    return np.array(
        [[1.0, 0, 0, 0], [b, a, 0, 0], [b**2, 2 * b * a, a**2, 0], [b**3, 3 * b**2 * a, 3 * b * a**2, a**3]]
    )


def through(times: tuple[float, ...], values: Array) -> Array:
    """Return interpolating polynomials of the lowest degree for n signals at k times, shape (n, 4).

    Parameters
    ----------
    times : k relative times within or before the step, k ≤ 4; the step begins at 0 and ends at 1
    values : values of the n signals at these times, shape (n, k)
    """
    return np.asarray(values @ _interpolation(times))


@lru_cache(maxsize=256)
def _interpolation(times: tuple[float, ...]) -> Array:
    """Return the matrix that converts values at k relative times to polynomial coefficients, shape (k, 4)."""
    found = np.zeros((len(times), 4))
    found[:, : len(times)] = np.linalg.inv(np.vander(np.array(times), len(times), increasing=True)).T
    return found
