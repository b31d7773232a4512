"""q̈ of native FMU and Modelica text against the reference at random states of all examples, all cases.

    python benchmarks/agreement.py [STATES]

prints a table; 200 states unless told otherwise. The same states and numbers as tests/test_backends.py.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers_backends import (
    CASES,
    LOOPS,
    example_model,
    largest_error,
    modelica_accelerations,
    native_error,
    reference_accelerations,
)

from gpmelica.analysis.system import System
from gpmelica.runs import rumoca as rumoca_backend
from gpmelica.tasks.build import build_native


def fmu_error(model: System, count: int) -> float:
    """Largest relative error of the compiled FMU."""
    with TemporaryDirectory() as folder:
        return native_error(model, build_native(model, Path(folder)).path, seed=31, count=count)


def modelica_error(model: System, count: int) -> float:
    """Largest relative error of the Modelica text in rumoca."""
    states, found = modelica_accelerations(model, np.random.default_rng(32), count)
    return largest_error(found, reference_accelerations(model, states))


def main(count: int) -> None:
    """Print the table, a row per case."""
    headings = ("example", "case", "n", "states", "native", "Modelica", "wall s")
    table = Table(*headings, title="largest relative error of the accelerations")
    for example, case in (*CASES, *LOOPS):
        begin = time.perf_counter()
        model = example_model(example, case)
        errors = [f"{fmu_error(model, count):.2g}"]
        errors += [f"{modelica_error(model, count):.2g}" if rumoca_backend.available() else "no rumoca"]
        wall = f"{time.perf_counter() - begin:.1f}"
        table.add_row(example, case, str(model.mechanism.n), str(count), *errors, wall)
    Console(width=100).print(table)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
