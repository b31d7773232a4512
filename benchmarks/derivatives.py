"""Time that exact derivatives cost, and that they save SciPy's stiff solvers in model exchange.

python benchmarks/derivatives.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import fmpy
import numpy as np
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers_backends import Compiled, example_model
from helpers_replacement import model_of
from helpers_stiff import Exchanged, exchange

from gpmelica.analysis.system import System
from gpmelica.tasks.build import build_native

MODELS: dict[str, Callable[[], System]] = {
    "crane, rigid boom": lambda: example_model("crane", "rigid_boom"),
    "crane, flexible boom": lambda: example_model("crane", "flexible_boom"),
    "RSRRP, spherical replacement, 1e8 N/m": lambda: model_of("spherical_replacement", 1e8),
    "RSRRP, revolute replacement, 1e8 N/m": lambda: model_of("revolute_replacement", 1e8),
}
STOP = 0.2  # s
CALLS = 200


def build(model: System, folder: Path) -> Compiled:
    """A model's FMU, unpacked."""
    fmu = build_native(model, folder).path
    return Compiled(model, fmu, Path(fmpy.extract(str(fmu), str(folder / "unpacked"))))


def _best(call: Callable[[int], object]) -> float:
    """µs of a call, at its fastest."""
    times = []
    for i in range(CALLS):
        begin = time.perf_counter()
        call(i)
        times.append(time.perf_counter() - begin)
    return 1e6 * min(times)


def costs(compiled: Compiled) -> tuple[int, float, float]:
    """Number of states, µs of an evaluation and of a directional derivative; both with FMPy's part."""
    with Exchanged(compiled) as model:
        x, fmi = model.start(), model.fmu.fmi
        evaluation = _best(lambda i: model.slopes(1e-9 * i, x))
        model.slopes(0.0, x)
        derivative = _best(lambda i: fmi.getDirectionalDerivative(model.rates, [model.states[0]], [1.0]))
        return len(x), evaluation, derivative


def compare(name: str, compiled: Compiled, table: Table) -> None:
    """Rows for both of SciPy's methods, with differences and with the FMU's Jacobian."""
    for method in ("Radau", "BDF"):
        rough, exact = (exchange(compiled, method, exact=exact, stop=STOP) for exact in (False, True))
        difference = np.abs(exact.end - rough.end).max()
        table.add_row(
            name,
            method,
            f"{rough.evaluations:,}",
            f"{exact.evaluations:,}",
            f"{rough.evaluations / exact.evaluations:.1f}",
            f"{exact.sweeps:,}",
            f"{difference:.0e}",
        )


def main() -> None:
    """Two tables."""
    cost = Table("model", "states", "evaluation, µs", "directional derivative, µs", box=MARKDOWN)
    headings = ("evaluations: differences", "exact", "ratio", "directional derivatives", "difference of the ends")
    saved = Table("model", "method", *headings, box=MARKDOWN)
    for name, make in MODELS.items():
        with TemporaryDirectory() as folder:
            compiled = build(make(), Path(folder))
            states, evaluation, derivative = costs(compiled)
            cost.add_row(name, str(states), f"{evaluation:.1f}", f"{derivative:.1f}")
            compare(name, compiled, saved)
    console = Console(width=140)
    console.print(cost)
    console.print(saved)


if __name__ == "__main__":
    main()
