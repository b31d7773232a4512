"""Calls of FMI functions that read or write many variables at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import c_double, c_int, c_uint
from typing import Any

import fmpy.fmi2
import fmpy.fmi3
import numpy as np

from ..core.trajectory import Array

_WHOLE: dict[str, Callable[[Any], Any]] = {"Integer": round, "Boolean": bool}


class TypedVariables:
    """Variables of one data type that a single FMI call reads or writes.

    Parameters
    ----------
    fmi : major version of FMI, 2 or 3
    type : data type as it occurs in names of FMI functions, such as Float64
    kind : Real, Integer or Boolean
    places : indices of the variables among all inputs or all outputs of the FMU
    references : value references of the variables
    """

    def __init__(self, fmi: int, type: str, kind: str, places: list[int], references: list[int]) -> None:
        count, module = len(references), fmpy.fmi2 if fmi == 2 else fmpy.fmi3
        values = (getattr(module, f"fmi{fmi}{type}") * count)()
        self.kind, self._places, self._values = kind, _compact(places), np.ctypeslib.as_array(values)
        self._arguments = [(c_uint * count)(*references), count, values, *([count] if fmi == 3 else [])]
        self._get, self._set = (f"fmi{fmi}{verb}{type}" for verb in ("Get", "Set"))

    def write(self, fmu: Any, values: Array) -> None:
        """Set the inputs of this data type in the FMU; `values` contains all inputs of the FMU, shape (n_u,)."""
        own = values[self._places]
        self._values[:] = own if self.kind == "Real" else [_WHOLE[self.kind](value) for value in own]
        getattr(fmu, self._set)(fmu.component, *self._arguments)

    def read(self, fmu: Any, values: Array) -> None:
        """Read the outputs of this data type from the FMU into `values`.

        The array `values` contains all outputs of the FMU, shape (n_y,).
        """
        getattr(fmu, self._get)(fmu.component, *self._arguments)
        values[self._places] = self._values


class Derivatives:
    """Access to the time derivatives of an FMU's real inputs and real outputs by FMI calls.

    Parameters
    ----------
    fmi : major version of FMI, 2 or 3
    inputs, outputs : value references of the real inputs and of the continuous real outputs
    """

    def __init__(self, fmi: int, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        n, m, fmi3 = len(inputs), len(outputs), fmi == 3
        given, seed, found = (c_double * (3 * n))(), (c_double * n)(), (c_double * m)()
        self._given, self._seed, self._found = map(np.ctypeslib.as_array, (given, seed, found))
        ins, outs = (c_uint * (3 * n))(*inputs, *inputs, *inputs), (c_uint * m)(*outputs)
        orders, ones = (c_int * (3 * n))(*(order for order in (1, 2, 3) for _ in inputs)), (c_int * m)(*[1] * m)
        self._linear, self._cubic = (ins, n, orders, given), (ins, 3 * n, orders, given)
        self._slopes = "fmi3GetOutputDerivatives" if fmi3 else "fmi2GetRealOutputDerivatives"
        # Unlike FMI 2.0, FMI 3.0 requires the lengths of the arrays in a call for directional derivatives.
        seeds, results = ([n], [m]) if fmi3 else ([], [])
        self._slopes_of = (outs, m, ones, found, *results)
        self._directional = f"fmi{fmi}GetDirectionalDerivative"
        self._directions = (outs, m, ins, n, seed, *seeds, found, *results)

    def give(self, fmu: Any, courses: Array, h: float) -> None:
        """Pass the time derivatives of n inputs at the beginning of a step to an FMU 2.0.

        Parameters
        ----------
        courses : polynomials of the inputs over the step, shape (n, 4)
        h : length of the step, s
        """
        n = len(courses)
        cubic = courses[:, 2:].any()
        self._given[:n] = courses[:, 1] / h
        if cubic:
            self._given[n : 2 * n] = courses[:, 2] * (2.0 / h**2)
            self._given[2 * n :] = courses[:, 3] * (6.0 / h**3)
        fmu.fmi2SetRealInputDerivatives(fmu.component, *(self._cubic if cubic else self._linear))

    def of_outputs(self, fmu: Any) -> Array:
        """Return the time derivatives of the m real outputs as reported by the FMU, shape (m,)."""
        getattr(fmu, self._slopes)(fmu.component, *self._slopes_of)
        return self._found.copy()

    def along(self, fmu: Any, rates: Array) -> Array:
        """Return the directional derivatives of m outputs for given changes of n inputs, shape (m,).

        The argument `rates` contains the changes of the inputs, shape (n,).
        """
        self._seed[:] = rates
        getattr(fmu, self._directional)(fmu.component, *self._directions)
        return self._found.copy()


def _compact(places: list[int]) -> Any:
    consecutive = places == [*range(places[0], places[0] + len(places))]
    return slice(places[0], places[0] + len(places)) if consecutive else np.array(places, dtype=np.intp)
