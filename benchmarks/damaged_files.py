"""Damaged descriptions, states, input and result files and FMUs: none may end in a traceback, none may hang.

    python benchmarks/damaged_files.py [--count 5000] [--first 0] [--workers 2] [--minutes 60]

prints by kind how many were tried and refused, how many ended in a traceback or took more than 20 s, and those.
Exit status 1 if there are any.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from damaged_files import KINDS, SLOW, Outcome, outcome
from helpers_bad_input import ARM

from gpmelica import load
from gpmelica.core.workers import worker_processes

_BATCH = 100


def main() -> int:
    """Try, print; exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=60.0, help="no new ones after that")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.count)
    with tempfile.TemporaryDirectory() as folder, worker_processes(options.workers) as pool:
        found = _all(pool, seeds, _fmu(Path(folder)), time.monotonic() + 60 * options.minutes)
    return _say(found, options.count)


def _fmu(folder: Path) -> Path:
    """A sound one."""
    (folder / "arm.toml").write_text(ARM, encoding="utf-8")
    return Path(load(folder / "arm.toml").build(folder / "built").path)


def _all(pool: ProcessPoolExecutor, seeds: Sequence[int], fmu: Path, end: float) -> list[Outcome]:
    found: list[Outcome] = []
    while len(found) < len(seeds) and time.monotonic() < end:
        batch = seeds[len(found) : len(found) + _BATCH]
        try:
            found += pool.map(_one, batch, [fmu] * len(batch), chunksize=10)
        except BrokenProcessPool:
            sys.exit(f"a process died of one of the seeds {batch[0]} to {batch[-1]}")
    return found


def _one(seed: int, fmu: Path) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        return outcome(seed, Path(folder), fmu)


def _say(found: Sequence[Outcome], wanted: int) -> int:
    table = Table("kind", "tried", "refused", "tracebacks", f"over {SLOW:g} s", "longest, s")
    for kind in (*KINDS, "all"):
        own = [o for o in found if kind in (o.kind, "all")]
        counts = len(own), sum(o.refused for o in own), sum(bool(o.trace) for o in own)
        slow, longest = sum(o.seconds > SLOW for o in own), max((o.seconds for o in own), default=0.0)
        table.add_row(kind, *map(str, (*counts, slow)), f"{longest:.1f}")
    screen, amiss = Console(highlight=False, soft_wrap=True), [o for o in found if o.amiss]
    screen.print(table)
    screen.print(f"{len(found)} of {wanted} tried, {len(amiss)} amiss")
    for o in amiss:
        screen.print(f"seed {o.seed}, {o.kind}, {o.seconds:.1f} s\n{o.trace}", markup=False)
    return 1 if amiss or len(found) < wanted else 0


if __name__ == "__main__":
    sys.exit(main())
