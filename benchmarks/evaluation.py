"""What one evaluation of the native FMU costs, beside Pinocchio's mass matrix and bias forces for the same tree.

python benchmarks/evaluation.py [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import pinocchio
from crane import Array, Crane, build
from native_loops import NativeLoops, compile_loops
from pinocchio_loops import PinocchioLoops
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

from gpmelica.fmu.compilers import compiler

ELEMENTS = (1, 4, 10, 22)  # of the boom: n = 9, 18, 36, 72
POINTS = 64
ROUNDS = 400
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Time:
    """Of one evaluation, µs, over all rounds."""

    median: float
    min: float

    def __sub__(self, other: Time) -> Time:
        return Time(self.median - other.median, self.min - other.min)

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.min:.2f})"


@dataclass(frozen=True)
class Row:
    """Everything about one crane.

    fmu               fmi2SetTime, fmi2SetContinuousStates, fmi2GetDerivatives
    solve             its linear systems alone
    anew              the FMU whose dependent coordinates are chosen anew at every evaluation
    pinocchio         CRBA and bias forces, joints of three coordinates
    pinocchio_single  the same, a joint for each coordinate
    overhead          Python's part, which has been taken off both
    difference        largest relative difference of M, h (Pinocchio) and q̈ (FMU) from the reference solver
    """

    n: int
    fmu: Time
    solve: Time
    anew: Time
    pinocchio: Time
    pinocchio_single: Time
    overhead: Time
    difference: float
    code_kB: float
    generation_s: float
    compile_s: float
    fmu_kB: float

    @property
    def ratio(self) -> float:
        """FMU's time over Pinocchio's; minima, because what other processes do only adds."""
        return self.fmu.min / self.pinocchio.min


def measure(crane: Crane, anew: Crane, folder: Path) -> Row:
    """Times a crane with fixed dependent coordinates and with new ones; RuntimeError if backends do not agree."""
    q, qd = crane.points(POINTS)
    grouped, single = (PinocchioLoops(crane.model.mechanism, q, qd, grouped) for grouped in (True, False))
    loops = compile_loops(crane, folder)
    with NativeLoops(crane, loops, q, qd) as native, NativeLoops(anew, loops, q, qd) as choosing:
        difference = max(_differences(crane, (native, choosing), (grouped, single), q[0], qd[0]))
        if not difference <= TOLERANCE:
            raise RuntimeError(f"n = {crane.n}: backends differ by {difference:.1e}, expected at most {TOLERANCE}")
        fmu, chosen_anew, with_copies, copies, with_calls, single_with_calls, overhead = _interleaved(
            max(POINTS, 120_000 // crane.n**2),  # about a millisecond: shorter than a scheduler's time slice
            native.evaluations,
            choosing.evaluations,
            native.solves,
            lambda calls: native.solves(calls, solve=False),
            grouped.evaluations,
            single.evaluations,
            grouped.overhead,
        )
    return Row(
        n=crane.n,
        fmu=fmu,
        solve=with_copies - copies,
        anew=chosen_anew,
        pinocchio=with_calls - overhead,
        pinocchio_single=single_with_calls - overhead,
        overhead=overhead,
        difference=difference,
        code_kB=crane.code_bytes / 1e3,
        generation_s=crane.generation_s,
        compile_s=crane.compile_s,
        fmu_kB=crane.fmu.stat().st_size / 1e3,
    )


def _differences(
    crane: Crane, natives: Sequence[NativeLoops], others: Sequence[PinocchioLoops], q: Array, qd: Array
) -> Iterator[float]:
    expected = crane.reference(q, qd)
    for native in natives:
        native.evaluations(1)
        yield _relative(native.derivatives[crane.n :], expected.qdd)
    for other in others:
        M, h = other.mass_and_bias(q, qd)
        yield from (_relative(M, expected.M), _relative(h, expected.h))


def _relative(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


def _interleaved(calls: int, *batches: Callable[[int], float]) -> list[Time]:
    """Each batch once per round, so that all meet the same disturbances."""
    seconds: list[list[float]] = [[] for _ in batches]
    gc.disable()
    for _ in range(ROUNDS):
        for batch, found in zip(batches, seconds, strict=True):
            found.append(batch(calls) / calls * 1e6)
    gc.enable()
    return [Time(median(found), min(found)) for found in seconds]


LINES: dict[str, Callable[[Row], str]] = {
    "FMU, µs": lambda row: str(row.fmu),
    "  of which linear systems, µs": lambda row: str(row.solve),
    "FMU, partition chosen anew, µs": lambda row: str(row.anew),
    "Pinocchio's M and bias forces, µs": lambda row: str(row.pinocchio),
    "  a joint per coordinate, µs": lambda row: str(row.pinocchio_single),
    "  Python's part (taken off), µs": lambda row: str(row.overhead),
    "FMU / Pinocchio (minima)": lambda row: f"{row.ratio:.2f}",
    "difference from the reference": lambda row: f"{row.difference:.0e}",
    "generated C code, kB": lambda row: f"{row.code_kB:.0f}",
    "generation, s": lambda row: f"{row.generation_s:.2f}",
    "C compiler and packing, s": lambda row: f"{row.compile_s:.1f}",
    "FMU, kB": lambda row: f"{row.fmu_kB:.0f}",
}


def _table(rows: Sequence[Row]) -> Table:
    table = Table(title="One evaluation: median (minimum)", box=MARKDOWN)
    table.add_column("")
    for row in rows:
        table.add_column(f"n = {row.n}", justify="right", no_wrap=True)
    for title, cell in LINES.items():
        table.add_row(title, *map(cell, rows))
    return table


def main() -> None:
    """Measures all sizes and prints a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    as_json = parser.parse_args().json
    versions = {"compiler": compiler.find().version, "pinocchio": pinocchio.__version__}
    rows = []
    for elements in ELEMENTS:
        with TemporaryDirectory() as folder, Console(file=sys.stderr).status(f"boom of {elements} elements"):
            place = Path(folder)
            rows.append(measure(build(elements, place), build(elements, place, "auto"), place))
    if as_json:
        results = [asdict(row) | {"ratio": row.ratio} for row in rows]
        print(json.dumps({"versions": versions, "rows": results}, indent=2))
    else:
        Console(width=110).print(_table(rows))
        print(f"{versions['compiler']}; Pinocchio {versions['pinocchio']}")


if __name__ == "__main__":
    main()
