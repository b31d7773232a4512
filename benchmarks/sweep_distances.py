"""Time and bytes per run of what a sweep does besides its runs: values, their judgement, parts, table, array file.

python benchmarks/sweep_distances.py [RUNS]
"""

from __future__ import annotations

import pickle
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gpmelica.sweeps.checks import wrong_numbers
from gpmelica.sweeps.parts import Parts
from gpmelica.sweeps.points import points
from gpmelica.sweeps.results import write_signals, write_table
from gpmelica.sweeps.runs import ResultChunk
from gpmelica.sweeps.structures import structures
from gpmelica.sweeps.variations import variations
from sweeps import SETTINGS, SPAN, crane


def distances(folder: Path, runs: int) -> None:
    """Measure time and memory of the process that distributes the runs, without the runs themselves."""
    keys, model = variations(SETTINGS), crane()
    varied = points(keys, runs, "sobol", 0)
    (structure,) = structures(model.description, model.source, keys, lambda what, fraction: None)
    chance, size = np.random.default_rng(0), 20  # runs in a part: a second of the crane's
    times = SPAN.grid()
    spent: dict[str, float] = {}

    def take(what: str, action: Any) -> None:
        begin = time.thread_time()
        action()
        spent[what] = spent.get(what, 0.0) + time.thread_time() - begin

    parts = Parts(folder, runs)
    for begin in range(0, runs, size):
        numbers = np.arange(begin, min(begin + size, runs))
        take("values of a run", lambda numbers=numbers: pickle.dumps([varied.at(int(n)) for n in numbers]))
        values = [varied.at(int(n)) for n in numbers]
        take("judgement", lambda values=values: [wrong_numbers(structure, value) for value in values])
        figures = chance.normal(size=(len(numbers), 4))
        signals = chance.normal(size=(len(numbers), len(times), 1)).cumsum(axis=1)
        part = ResultChunk(numbers, ("",) * len(numbers), figures, signals)
        take("its part", lambda part=part: parts.add(part))
    take("parts read again", lambda: Parts(folder, runs))
    take("table", lambda: write_table(folder, varied, parts, ["top"]))
    take("array file", lambda: write_signals(folder, varied, parts, times, ["E_z"], {"E_z": "m"}))
    print(f"{runs} runs in {len(list(parts.folder.iterdir()))} parts; processor time for each run, µs:")
    print("  " + ", ".join(f"{what} {seconds / runs * 1e6:.0f}" for what, seconds in spent.items()))
    kept = {"parts": parts.folder, "table": folder / "table.parquet", "array file": folder / "signals.zarr"}
    print("  bytes for each run: " + ", ".join(f"{what} {_size(path) / runs:.0f}" for what, path in kept.items()))


def _size(path: Path) -> int:
    return sum(one.stat().st_size for one in [path, *path.rglob("*")] if one.is_file())


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        distances(Path(temporary), int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
