"""Random mechanisms to run: right ones, and the same with a row that does not hold."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from machines.families import machine
from machines.tree import Table

SPOILS = ("from the start", "from a time on", "at a start that nobody asked for")


def right(seed: int) -> Table:
    """A random mechanism with a run that is long for its size."""
    drawn = machine(seed, largest=16)
    stop = float(f"{min(0.5, np.sqrt(0.4 * drawn.length)):.2g}")
    times = {"stop": stop, "output_step": stop / 50, "start": "description"}
    return drawn.data | {"name": "Random", "simulation": times}


def spoiled(seed: int) -> tuple[Table, str]:
    """A random mechanism with a further pair of rows, the second of which is violated, and how."""
    data, how = right(seed), SPOILS[seed % len(SPOILS)]
    size, stop = machine(seed, largest=16).length, data["simulation"]["stop"]
    row = "E.x - start(E.x)"
    off = {
        SPOILS[0]: f"{0.01 * size}",
        SPOILS[1]: f"{0.1 * size / stop}*max(0, t - {stop / 2})",
        SPOILS[2]: f"{0.01 * size}",
    }[how]
    rows = [{"name": "said", "expression": row}, {"name": "broken", "expression": f"{row} - {off}"}]
    if how == SPOILS[2]:
        rows = rows[1:]
        data = data | {"statics": {"locked": [link["name"] for link in data["links"]]}}
        data["simulation"] = data["simulation"] | {"start": "statics"}
    return data | {"programmed": [*data.get("programmed", []), *rows]}, how
