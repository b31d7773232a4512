"""The table of awkward machines (tests/awkward_machines) end to end: `gpmelica check` and `gpmelica run` on each.

    python benchmarks/awkward_machines.py [NAME …] [--workers 2] [--seconds 120]

prints the outcome of each, and every difference from the outcome that the table expects. Exit status 1 if any
differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from end_to_end import end_to_end
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from awkward_machines import MACHINES

from gpmelica.core.workers import worker_processes

_SCREEN = Console(highlight=False, soft_wrap=True)


def main() -> int:
    """Run all, print; exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="machines, or parts of their names (default: all)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=120.0, help="longest time of a command")
    options = parser.parse_args()
    chosen = [name for name in MACHINES if not options.names or any(part in name for part in options.names)]
    wrong = 0
    with worker_processes(options.workers) as pool:
        for name, lines in zip(chosen, pool.map(judged, chosen, [options.seconds] * len(chosen)), strict=True):
            wrong += len(lines) > 1
            _SCREEN.print(f"{name}: {lines[0]}", *lines[1:], sep="\n    ", markup=False)
    _SCREEN.print(f"{len(chosen)} machines, {wrong} judged wrong")
    return 1 if wrong else 0


def judged(name: str, seconds: float) -> list[str]:
    """Outcome of a machine's check and run, then its faults and the commands' last words."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        answer = end_to_end(MACHINES[name].make(), Path(folder), seconds)
    faults = answer.faults(MACHINES[name])
    said = [f"said: {answer.said.strip()[-600:]}"] if faults else []
    return [f"{answer.verdict}, {time.perf_counter() - begin:.0f} s", *faults, *said]


if __name__ == "__main__":
    sys.exit(main())
