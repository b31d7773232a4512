"""Time of one evaluation of the native FMU, beside Pinocchio's forward dynamics of the same tree.

python benchmarks/evaluation.py [--elements N …] [--march NAME] [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable, Sequence
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

ELEMENTS = (1, 4, 10, 22, 46, 94)  # of the boom: n = 9, 18, 36, 72, 144, 288
POINTS = 8
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Time:
    """Time of one evaluation, µs: median and minimum over all rounds."""

    median: float
    min: float

    def __sub__(self, other: Time) -> Time:
        return Time(self.median - other.median, self.min - other.min)

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.min:.2f})"


@dataclass(frozen=True)
class Row:
    """Everything about one crane.

    way         how the FMU solves for the accelerations: "recursion" or "dense"
    fmu         fmi2SetTime, fmi2SetContinuousStates, fmi2GetDerivatives
    grouped     Pinocchio's ABA, joints of three coordinates, of the tree without supports, springs and constraints
    single      the same, a joint for each coordinate
    rows        Pinocchio's M, bias forces and solution with the two constraint rows, which are given to it
    overhead    Python's part, which has been taken off these three
    differences  of the q̈ of these four from the reference solver's, relative
    """

    n: int
    way: str
    fmu: Time
    grouped: Time
    single: Time
    rows: Time
    overhead: Time
    differences: tuple[float, float, float, float]
    code_kB: float
    generation_s: float
    compile_s: float
    fmu_kB: float

    @property
    def to_aba(self) -> float:
        """FMU's time over that of the faster ABA; minima, because what other processes do only adds."""
        return self.fmu.min / min(self.grouped.min, self.single.min)

    @property
    def to_rows(self) -> float:
        """FMU's time over that of Pinocchio's solution with rows; minima."""
        return self.fmu.min / self.rows.min


def measure(crane: Crane, folder: Path) -> Row:
    """Times a crane; RuntimeError if the FMU does not agree with the reference."""
    q, qd = crane.points(POINTS)
    moving = [crane.reference(*point) for point in zip(q, qd, strict=True)]
    grouped, single = (PinocchioLoops(crane.model.mechanism, q, qd, moving, three) for three in (True, False))
    with NativeLoops(crane, compile_loops(crane, folder), q, qd) as native:
        native.evaluations(1)
        answers = native.derivatives[crane.n :], grouped.aba_once(), single.aba_once(), grouped.with_rows_once()
        own, *others = (_relative(answer, moving[0].qdd) for answer in answers)
        if not own <= TOLERANCE:
            raise RuntimeError(f"n = {crane.n}: the FMU differs by {own:.1e}, expected at most {TOLERANCE}")
        calls = max(POINTS, 9_000 // crane.n)  # about a millisecond: shorter than a scheduler's time slice
        batches = native.evaluations, grouped.aba, single.aba, grouped.with_rows, grouped.overhead
        fmu, *timed, overhead = _interleaved(calls, max(20, min(200, 9_000 // crane.n)), *batches)
    return Row(
        crane.n,
        crane.way,
        fmu,
        *(each - overhead for each in timed),
        overhead,
        (own, *others),
        code_kB=crane.code_bytes / 1e3,
        generation_s=crane.generation_s,
        compile_s=crane.compile_s,
        fmu_kB=crane.fmu.stat().st_size / 1e3,
    )


def _relative(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


def _interleaved(calls: int, rounds: int, *batches: Callable[[int], float]) -> list[Time]:
    """Run each batch once per round, so that all meet the same disturbances, and return their times."""
    seconds: list[list[float]] = [[] for _ in batches]
    gc.disable()
    for _ in range(rounds):
        for batch, found in zip(batches, seconds, strict=True):
            found.append(batch(calls) / calls * 1e6)
    gc.enable()
    return [Time(median(found), min(found)) for found in seconds]


LINES: dict[str, Callable[[Row], str]] = {
    "accelerations by": lambda row: row.way,
    "FMU, µs": lambda row: str(row.fmu),
    "Pinocchio's ABA, µs": lambda row: str(row.grouped),
    "  a joint per coordinate, µs": lambda row: str(row.single),
    "  M, bias forces and rows, µs": lambda row: str(row.rows),
    "  Python's part (taken off), µs": lambda row: str(row.overhead),
    "FMU / ABA (minima)": lambda row: f"{row.to_aba:.2f}",
    "FMU / M, bias forces and rows": lambda row: f"{row.to_rows:.2f}",
    "difference of the FMU": lambda row: f"{row.differences[0]:.0e}",
    "  of ABA": lambda row: f"{row.differences[1]:.0e}",
    "  of ABA, a joint per coordinate": lambda row: f"{row.differences[2]:.0e}",
    "  of M, bias forces and rows": lambda row: f"{row.differences[3]:.0e}",
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


def growth(rows: Sequence[Row]) -> float:
    """Exponent of n with which the FMU's time grows from n = 18 on; least squares of the logarithms."""
    large = [row for row in rows if row.n >= 18]
    if len(large) < 2:
        return float("nan")
    return float(np.polyfit(np.log([row.n for row in large]), np.log([row.fmu.min for row in large]), 1)[0])


def _row(elements: int, march: str) -> Row:
    with TemporaryDirectory() as folder, Console(file=sys.stderr).status(f"boom of {elements} elements"):
        return measure(build(elements, Path(folder), march=march), Path(folder))


def main() -> None:
    """Measures all sizes and prints a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--elements", type=int, nargs="+", default=ELEMENTS, help="of the boom; n = 6 + 3 times that"
    )
    parser.add_argument("--march", default="", help="processors that the FMU is for, as gpmelica build has it")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    options = parser.parse_args()
    versions = {"compiler": compiler.find().version, "pinocchio": pinocchio.__version__}
    rows = [_row(elements, options.march) for elements in options.elements]
    if options.json:
        results = [asdict(row) | {"to_aba": row.to_aba, "to_rows": row.to_rows} for row in rows]
        print(json.dumps({"versions": versions, "rows": results, "growth": growth(rows)}, indent=2))
    else:
        Console(width=140).print(_table(rows))
        print(f"{versions['compiler']}; Pinocchio {versions['pinocchio']}; from n = 18 on as n^{growth(rows):.2f}")


if __name__ == "__main__":
    main()
