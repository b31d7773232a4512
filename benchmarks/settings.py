"""The lorry crane's FMU with parameters set, against the reference's run of a description with these numbers.

    python benchmarks/settings.py [SETTINGS]

builds the FMU once and prints a row per random setting of 17 parameters (20 unless told otherwise): the largest
error of coordinates and rates over the run, in model exchange and co-simulation. The same settings as
tests/test_lorry_crane.py.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers_backends import example_model
from helpers_settings import errors, setting

from gpmelica.tasks.build import build_native

TOLERANCE, STOP = 1e-12, 0.3  # relative; s


def main(count: int) -> None:
    """Print the table, a row per setting."""
    headings = ("payload", "rope", "boom", "model exchange", "co-simulation")
    table = Table(*headings, title=f"largest error over {STOP} s")
    rng = np.random.default_rng(20)
    with TemporaryDirectory() as folder:
        fmu = build_native(example_model("lorry_crane", None), Path(folder)).path
        for _ in range(count):
            values = setting(rng)
            found = errors(fmu, values, TOLERANCE, STOP)
            numbers = (f"{values[name]:.4g}" for name in ("payload", "rope", "boom_length"))
            table.add_row(*numbers, *(f"{found[mode]:.1e}" for mode in ("me", "cs")))
    Console(width=100).print(table)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
