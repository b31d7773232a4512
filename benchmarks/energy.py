"""Energy of a machine with every force element, in the reference: stored, given, taken, lost at events.

    python benchmarks/energy.py [SECONDS]

prints the balance over 2 s unless told otherwise; tests/test_force_elements.py has it over a shorter time.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers_energy import Balance
from helpers_force_elements import everything


def main(stop: float) -> None:
    """Print the table, a row per tolerance."""
    headings = ("tolerance", "given, J", "taken, J", "lost at events, J", "events", "largest defect", "CPU s")
    table = Table(*headings, title=f"energy over {stop} s")
    for tolerance in (1e-7,):
        begin = time.process_time()
        found = Balance(everything(), stop, tolerance)
        energies = (f"{value:.3f}" for value in (found.given, found.taken, found.lost))
        seconds = f"{time.process_time() - begin:.0f}"
        table.add_row(f"{tolerance:.0e}", *energies, str(len(found.events)), f"{found.error:.1e}", seconds)
    Console(width=110).print(table)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0)
