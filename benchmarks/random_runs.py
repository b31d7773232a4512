"""Random mechanisms end to end: right ones must be found right, and those with a violated row must not.

    python benchmarks/random_runs.py [--count 50] [--first 0] [--workers 2] [--seconds 120] [--minutes 60]

Odd seeds are spoiled. Prints each verdict, then how many false alarms and how many badges on a violated row there
were; exit status 1 if there was one. The reduced form keeps the partition that it starts with: that a run stops
where this partition turns singular, and says so, is no false alarm and counted apart.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from end_to_end import end_to_end
from random_tables import right, spoiled
from rich.console import Console

from gpmelica.core.workers import worker_processes

_PARTITION = "choose other dependent coordinates, or change the motion"
_SCREEN = Console(highlight=False, soft_wrap=True)


def main() -> int:
    """Run all, print; exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=120.0, help="longest time of a command")
    parser.add_argument("--minutes", type=float, default=60.0, help="no new runs after that")
    options = parser.parse_args()
    end, alarms, badges, kept, done = time.monotonic() + 60 * options.minutes, 0, 0, 0, 0
    seeds = list(range(options.first, options.first + options.count))
    with worker_processes(options.workers) as pool:
        while seeds and time.monotonic() < end:
            batch, seeds = seeds[:4], seeds[4:]
            for seed, (verdict, line) in zip(
                batch, pool.map(ran, batch, [options.seconds] * len(batch)), strict=True
            ):
                partition = seed % 2 == 0 and verdict == "stops" and _PARTITION in line
                alarm = seed % 2 == 0 and verdict != "ok" and not partition
                badge = seed % 2 == 1 and verdict == "ok"
                alarms, badges, kept, done = alarms + alarm, badges + badge, kept + partition, done + 1
                _SCREEN.print(f"seed {seed}: {line}{'  FALSE ALARM' * alarm}{'  BADGE' * badge}", markup=False)
    _SCREEN.print(f"{done} runs: {alarms} false alarms, {badges} badges on a violated row")
    _SCREEN.print(f"{kept} right ones of the reduced form stopped where their partition turned singular")
    return 1 if alarms or badges or seeds else 0


def ran(seed: int, seconds: float) -> tuple[str, str]:
    """Verdict, and a line of what it is about."""
    data, how = (right(seed), "right") if seed % 2 == 0 else spoiled(seed)
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        answer = end_to_end(data, Path(folder), seconds)
    kept = answer.verdict == "ok" or (how != "right" and answer.verdict != "crashed")
    said = "" if kept else f": {answer.said.strip()[-500:]}"
    return answer.verdict, f"{how}: {answer.verdict}, {time.perf_counter() - begin:.0f} s{said}"


if __name__ == "__main__":
    sys.exit(main())
