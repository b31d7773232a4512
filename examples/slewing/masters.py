"""The closed loop of plant and controller in three masters that others wrote: FMPy, libcosim and ecos.

    python masters.py ARCHIVE.ssp [MASTER …]

Each function takes an SSP archive, the communication step and the end of the run, s, names such as
`Plant.column_angle`, and the number of communication steps between two recorded ones, which is 1 in FMPy. It
returns the recorded times, s, and signals, shape (N,).
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import numpy as np

Run = tuple[np.ndarray, dict[str, np.ndarray]]
Master = Callable[[Path, float, float, Sequence[str], int], Run]


def fmpy(ssp: Path, step: float, stop: float, names: Sequence[str], every: int = 1) -> Run:
    """FMPy's `simulate_ssp`; FMI 1.0 and 2.0."""
    from fmpy.ssp.simulation import simulate_ssp

    # half a step short, for FMPy compares sums of steps with the end
    rows = simulate_ssp(str(ssp), stop_time=stop - step / 2, step_size=step)
    return rows["time"] + step, {name: np.asarray(rows[name]) for name in names}


def libcosim(ssp: Path, step: float, stop: float, names: Sequence[str], every: int = 1) -> Run:
    """libcosim's fixed-step algorithm; FMI 1.0 and 2.0."""
    from libcosimpy import CosimLogging
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimObserver import CosimObserver

    # its FMI library calls it an error that `time` has no start value, which FMI 2.0 forbids it to have
    CosimLogging.log_output_level(CosimLogging.CosimLogLevel.FATAL)
    with TemporaryDirectory() as folder:
        ZipFile(ssp).extractall(folder)
        execution = CosimExecution.from_ssp_file(folder, step * 1e9)
        observer = CosimObserver.create_last_value()
        execution.add_observer(observer)
        places = [_place(execution, name) for name in names]

        def advance() -> list[float]:
            if not execution.step(every):
                raise RuntimeError(f"libcosim stopped: {execution.status()}")
            return [observer.last_real_values(slave, [reference])[0] for slave, reference in places]

        return _recorded(advance, every * step, stop, names)


def _place(execution: Any, name: str) -> tuple[int, int]:
    """Index of the element and value reference of its variable."""
    element, variable = name.split(".")
    slave = execution.slave_index_from_instance_name(element)
    references = {v.name.decode(): v.reference for v in execution.slave_variables(slave)}
    return slave, references[variable]


def ecos(ssp: Path, step: float, stop: float, names: Sequence[str], every: int = 1) -> Run:
    """ecos with its fixed-step algorithm; FMI 1.0, 2.0 and 3.0."""
    load_tbb()
    from ecospy import EcosSimulation

    with EcosSimulation(step_size=step, ssp_path=str(ssp)) as simulation:
        simulation.init()

        def advance() -> list[float]:
            simulation.step(every)
            return [simulation.get_real(name.replace(".", "::")) for name in names]

        recorded = _recorded(advance, every * step, stop, names)
        simulation.terminate()
    return recorded


def load_tbb() -> None:
    """ecos' wheel for Linux lacks libtbb, which the package tbb has; loaded once, the loader finds it."""
    if sys.platform == "linux" and importlib.util.find_spec("ecospy") is not None:
        files = importlib.metadata.files("tbb") or []
        library = next(file for file in files if file.name == "libtbb.so.12")
        ctypes.CDLL(str(Path(str(library.locate())).resolve()), mode=ctypes.RTLD_GLOBAL)


def _recorded(advance: Callable[[], list[float]], step: float, stop: float, names: Sequence[str]) -> Run:
    values = np.array([advance() for _ in range(round(stop / step))])
    return step * np.arange(1, len(values) + 1), {name: values[:, k] for k, name in enumerate(names)}


MASTERS: dict[str, Master] = {"FMPy": fmpy, "libcosim": libcosim, "ecos": ecos}


def main(archive: str, *names: str) -> None:
    """Print the column's angle after 2 s by each master, or by those named."""
    for name in names or MASTERS:
        time, signals = MASTERS[name](Path(archive), 0.01, 2.0, ["Plant.column_angle"])
        print(f"{name}: {signals['Plant.column_angle'][-1]:.6f} rad at {time[-1]:.2f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)  # a controller made with pythonfmu3 reads freed memory in the functions that are called at exit
