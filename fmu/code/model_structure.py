"""FMI model structure of the native FMU: its unknowns and their dependencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...generator.variables import Variable
from .dependencies import Dependencies, Mask


@dataclass(frozen=True)
class Unknown:
    """Variable that the FMU computes, and the variables on which it depends.

    All variables are given by their value references; the dependencies are in ascending order.
    """

    reference: int
    dependencies: tuple[int, ...]


@dataclass(frozen=True)
class ModelStructure:
    """Unknowns of the model during the run and at initialisation, in order of value references."""

    outputs: tuple[Unknown, ...]
    derivatives: tuple[Unknown, ...]
    initial: tuple[Unknown, ...]


def structure(table: Sequence[Variable], found: Dependencies, fmi: str) -> ModelStructure:
    """Return the model structure for an FMI version.

    FMI 2.0 and FMI 3.0 differ in two ways. In FMI 3.0, an array is one variable, and the dependencies
    during the run include parameters. In FMI 2.0, each array element is a variable, and the
    dependencies during the run exclude parameters.
    """
    return _Builder(table, found, fmi).structure()


class _Builder:
    def __init__(self, table: Sequence[Variable], found: Dependencies, fmi: str) -> None:
        self.table, self.found = table, found
        kinds = ("state", "input", "time", "parameter")
        self.columns = [i for kind in kinds for i, v in enumerate(table) if v.kind == kind]
        self.reference = list(range(len(table)))
        self.running = np.array([fmi != "2.0" or table[i].kind != "parameter" for i in self.columns], dtype=bool)
        if fmi != "2.0":
            for i, variable in enumerate(table):
                if variable.elements == 0:  # The elements of an array share the value reference of the array.
                    self.reference[i] = self.reference[i - 1]

    def structure(self) -> ModelStructure:
        outputs = [i for i, v in enumerate(self.table) if v.causality == "output"]
        states = [i for i, v in enumerate(self.table) if v.kind == "state"]
        derivatives = [i for i, v in enumerate(self.table) if v.kind == "derivative"]
        calculated = [i for i, v in enumerate(self.table) if v.kind == "calculated" and self.reference[i] == i]
        initial = sorted(outputs + states + derivatives + calculated)
        return ModelStructure(
            tuple(self._unknown(i, self._row(i) & self.running) for i in outputs),
            tuple(self._unknown(i, self._row(i) & self.running) for i in derivatives),
            tuple(self._unknown(i, self.found.at_start(self._row(i))) for i in initial),
        )

    def _row(self, position: int) -> Mask:
        variable = self.table[position]
        # Some variables, such as counters, do not depend on states, inputs, time or parameters.
        row: Mask = np.zeros(len(self.columns), dtype=bool)
        if variable.kind == "output":
            row = self.found.outputs[variable.index]
        elif variable.kind == "derivative":
            row = self.found.derivatives[variable.index]
        elif variable.kind == "calculated":
            own = [i for i, first in enumerate(self.reference) if first == position]
            row = np.logical_or.reduce(self.found.calculated[[self.table[i].index for i in own]])
        elif variable.kind == "state":
            row[variable.index] = True
        return row

    def _unknown(self, reference: int, row: Mask) -> Unknown:
        known = {self.reference[self.columns[k]] for k in np.flatnonzero(row)}
        return Unknown(reference, tuple(sorted(known)))
