"""Modelica source of random and awkward machines: rumoca has to compile it.

    python benchmarks/modelica_sources.py [--count 200] [--first 0] [--workers 2]

tries so many random mechanisms, as many with every other key of the description, and all awkward machines that are
not refused. Prints each refusal of rumoca; exit status 1 if there is one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from random_tables import right
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from awkward_machines import MACHINES
from helpers_time import alarm
from machines.equipment import equipped

from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import BuildError, GpmelicaError
from gpmelica.core.workers import worker_processes
from gpmelica.description.load import from_data
from gpmelica.generator import modelica
from gpmelica.runs.rumoca import CompiledModel

_LONGEST = 120.0  # s
_LARGEST = 10  # coordinates of those with every key
_SCREEN = Console(highlight=False, soft_wrap=True)

Make = Callable[[], dict[str, Any]]


def main() -> int:
    """Compile all, print; exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("count", 200), ("first", 0), ("workers", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    machines = _machines(range(given.first, given.first + given.count))
    tried, refused = 0, 0
    with worker_processes(given.workers) as pool:
        for name, said in zip(machines, pool.map(compiled, machines.values()), strict=True):
            tried, refused = tried + (said is not None), refused + bool(said)
            if said:
                _SCREEN.print(f"{name}: {said}", markup=False)
    _SCREEN.print(f"{tried} Modelica sources, {refused} refused")
    return 1 if refused else 0


def _machines(seeds: range) -> dict[str, Make]:
    found: dict[str, Make] = {f"random {seed}": partial(right, seed) for seed in seeds}
    found |= {f"equipped {seed}": partial(equipped, seed, _LARGEST) for seed in seeds}
    return found | {name: machine.make for name, machine in MACHINES.items() if machine.verdict != "refused"}


def compiled(make: Make) -> str | None:
    """Compile a machine's source; return what rumoca says against it, or None if there is no model."""
    try:
        model = assemble_system(from_data(make()))
    except GpmelicaError:
        return None
    source = model.modelica(start_values=model.start_values())
    try:
        with alarm(_LONGEST):
            CompiledModel(source, modelica.experiment(model.name))
    except (BuildError, TimeoutError) as error:
        return str(error) or "no answer in time"
    return ""


if __name__ == "__main__":
    sys.exit(main())
