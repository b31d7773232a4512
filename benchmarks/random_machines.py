"""Random mechanisms of all families held against Pinocchio: rank, and accelerations of reference and equations.

With --equipped they also have tables, driven joints, lines, contacts, outriggers, stops, friction, paths with
orientations and outputs, which Pinocchio has not: reference and equations are held against each other.
With --oracle the oracle is tried: on mechanisms of all families against Pinocchio, and on equipped ones against
the reference, in turn; what it says against their starts is a fault, too.

    pip install -e '.[test]'
    python benchmarks/random_machines.py [--equipped | --oracle] [--count 2000] [--first 0] [--workers 2]
        [--minutes 60] [--out FILE]

prints a table by family and every fault. With --out each trial is a line of that file, and those that are in it
already are not tried again. Ends with exit status 1 where anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from machines.derivations import derivations
from machines.second_opinion import second_opinion
from machines.trial import FAMILIES, Trial, trial

from gpmelica.core.workers import worker_processes

_BATCH = 40  # trials that are under way at most when the time is over


def main() -> int:
    """Try, print; exit status."""
    options = _options()
    trial_of = second_opinion if options.oracle else derivations if options.equipped else trial
    known = _known(options.out)
    seeds = [seed for seed in range(options.first, options.first + options.count) if seed not in known]
    trials = [known[seed] for seed in known if options.first <= seed < options.first + options.count]
    with worker_processes(options.workers) as pool:
        for found in track(
            _tried(pool, trial_of, seeds, time.monotonic() + 60 * options.minutes),
            "trying",
            len(seeds),
            console=_progress,
        ):
            trials.append(found)
            if options.out is not None:
                with options.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(found)) + "\n")
    return _say(trials, options.count)


_progress = Console(stderr=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=60.0, help="no new trials after that")
    parser.add_argument("--out", type=Path, default=None)
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--equipped", action="store_true", help="with every other key of the description")
    kinds.add_argument("--oracle", action="store_true", help="the oracle, on both kinds of mechanisms")
    return parser.parse_args()


def _known(path: Path | None) -> dict[int, Trial]:
    if path is None or not path.exists():
        return {}
    found = (Trial(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines())
    return {entry.seed: entry for entry in found}


def _tried(
    pool: ProcessPoolExecutor, trial_of: Callable[[int], Trial], seeds: Sequence[int], end: float
) -> Iterator[Trial]:
    for first in range(0, len(seeds), _BATCH):
        if time.monotonic() > end:
            return
        yield from pool.map(trial_of, seeds[first : first + _BATCH])


def _say(trials: Sequence[Trial], wanted: int) -> int:
    table = Table("family", "tried", "refused or crashed", "wrong rank", "median error", "largest error")
    for family in (*FAMILIES, "equipped", "all"):
        own = [found for found in trials if family in (found.family, "all")]
        errors = np.array([max(found.reference, found.generated) for found in own if not found.crash] or [0.0])
        crashes, ranks = sum(bool(found.crash) for found in own), sum(found.rank != found.found for found in own)
        shown = f"{np.median(errors):.1e}", f"{errors.max():.1e}"
        table.add_row(family, str(len(own)), str(crashes), str(ranks - crashes), *shown)
    screen, faulty = Console(highlight=False, soft_wrap=True), [found for found in trials if found.faults]
    screen.print(table)
    screen.print(f"{len(trials)} of {wanted} tried, {len(faulty)} at fault")
    for found in faulty:
        screen.print(str(found), markup=False)
    return 1 if faulty or len(trials) < wanted else 0


if __name__ == "__main__":
    sys.exit(main())
