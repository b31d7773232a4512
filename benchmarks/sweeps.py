"""Sweeps of the rigid crane: what they cost beside the FMU's own steps, and what they survive.

    python benchmarks/sweeps.py share [RUNS] [SCHEDULER]  processor time in the FMU, beside it, against FMPy's loop
    python benchmarks/sweeps.py memory [RUNS]     memory of all processes over many short runs
    python benchmarks/sweeps.py killed [RUNS]     workers killed by their id, the command killed and given again
    python benchmarks/sweeps.py scheduler [RUNS]  a Dask cluster whose worker and scheduler are killed and started

All by processor time (`psutil`), so that other work on the machine does not count.
"""

from __future__ import annotations

import ctypes
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import fmpy
import numpy as np
import psutil

import gpmelica as gp
from gpmelica.runs.fmpy_runs.repeated import Span

EXAMPLE = "examples/crane.toml"
SETTINGS = {"links.column.mass": "normal(800, 20)", "torque": "uniform(-4500, -3500)"}
OBJECTIVE = "top=peak(E_z)"
SPAN = Span(2.0, 0.01, 1e-10)


def crane(stop: float = 2.0) -> gp.Model:
    """The crane with a rigid boom."""
    return gp.load(EXAMPLE, "rigid_boom", simulation={"stop": stop})


def sweep(folder: Path, runs: int, stop: float = 2.0, scheduler: str = "processes") -> gp.Sweep:
    """Run a sweep of `runs` runs."""
    return gp.sweep(crane(stop), SETTINGS, [OBJECTIVE], folder, samples=runs, seed=1, scheduler=scheduler)


def family() -> list[psutil.Process]:
    """Return this process and its descendants."""
    own = psutil.Process()
    return [own, *own.children(recursive=True)]


def used() -> float:
    """Processor time of this process and its descendants that live, s."""
    total = 0.0
    for process in family():
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
    return total


def resident() -> float:
    """Memory of this process and its descendants, MB."""
    total = 0.0
    for process in family():
        with suppress(psutil.NoSuchProcess):
            total += process.memory_info().rss / 1e6
    return total


@contextmanager
def watched(every: float = 0.5) -> Iterator[list[tuple[float, float]]]:
    """Time, s, and `resident` then, while the `with` block lasts."""
    memory: list[tuple[float, float]] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(every):
            memory.append((time.monotonic(), resident()))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield memory
    finally:
        over.set()
        watcher.join()


def own_steps(bench: Any, values: dict[str, float], repeats: int = 2) -> tuple[float, float]:
    """Processor time of one run inside `fmi2DoStep`, and of all of it, s; the least of some."""
    steps, wholes = [], []
    bench.run(0, values)
    repeated, setup = bench._repeated(0), bench.job.setups[0]
    step = repeated._instance.dll["fmi2DoStep"]  # the function that the runs call
    step.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int]
    references = [repeated._reference(setup.parameters[key]) for key in values]
    for _ in range(repeats):
        wholes.append(_timed(lambda: bench.run(0, values)))
        instance, inside = repeated._begun(references, list(values.values())), 0.0
        for begin, end in pairwise(repeated.grid.tolist()):
            at = time.thread_time()
            step(instance.component, begin, end - begin, 1)
            inside += time.thread_time() - at
        steps.append(inside)
    return min(steps), min(wholes)


def _bench(fmu: Path) -> Any:
    """Return the bench of a sweep's worker: FMU, model and objectives."""
    # here, for workers import this file, too
    from gpmelica.sweeps.objectives import objectives  # noqa: PLC0415
    from gpmelica.sweeps.runs import FmuPool, Job  # noqa: PLC0415
    from gpmelica.sweeps.structures import setup, structures  # noqa: PLC0415
    from gpmelica.sweeps.variations import variations  # noqa: PLC0415

    model = crane()
    (found,) = structures(model.description, model.source, variations(SETTINGS), lambda what, fraction: None)
    return FmuPool(Job("alone", (setup(found, fmu),), objectives([OBJECTIVE]), ("E_z",)))


def _timed(action: Any) -> float:
    begin = time.thread_time()
    action()
    return time.thread_time() - begin


def _fmpy(fmu: Path, values: dict[str, float], description: Any = None) -> float:
    """Processor time of a run by FMPy's own function, s; the description is read for each, or once."""
    return _timed(
        lambda: fmpy.simulate_fmu(
            str(fmu),
            fmi_type="CoSimulation",
            stop_time=SPAN.stop,
            output_interval=SPAN.output_step,
            relative_tolerance=SPAN.tolerance,
            start_values=values,
            output=["E_z", "violation_position"],
            model_description=description,
        )
    )


def share(folder: Path, runs: int, scheduler: str = "processes") -> None:
    """Processor time: FMU against everything; and runs per processor second of FMPy's loop."""
    sweep(folder / "built", 2, scheduler="here")  # compiles
    (folder / "out").mkdir()
    (folder / "built" / "fmu").rename(folder / "out" / "fmu")
    (fmu,) = (folder / "out").glob("fmu/*/Crane.fmu")
    marks: list[tuple[float, float]] = []  # of the time when runs begin and end: s, processor time

    def tell(what: str, fraction: float) -> None:
        if what == "runs" and fraction in (0.0, 1.0):
            marks.append((time.monotonic(), used()))

    model, out, called = crane(), folder / "out", time.monotonic()
    made = gp.sweep(model, SETTINGS, [OBJECTIVE], out, samples=runs, seed=1, scheduler=scheduler, progress=tell)
    whole_call, table = time.monotonic() - called, made.table
    (begun, used_before), (ended, used_after) = marks[0], marks[-1]
    values, keys = (
        {"torque": -4000.0, "set_links_column_mass": 800.0},
        {"torque": -4000.0, "links.column.mass": 800.0},
    )
    description = fmpy.read_model_description(str(fmu))
    # by turns, since other work on the machine changes what a processor second is worth
    with _bench(fmu) as bench:
        turns = [(own_steps(bench, keys), _fmpy(fmu, values), _fmpy(fmu, values, description)) for _ in range(10)]
    own, whole = (min(turn[0][k] for turn in turns) for k in range(2))
    plain, once = (min(turn[k] for turn in turns) for k in (1, 2))
    phase, inside = used_after - used_before, float(table["cpu_s"].sum())
    beside = (phase - inside) / runs
    lines = (
        f"{runs} runs by {scheduler}, processor time: {inside / runs * 1e3:.2f} ms a run (mean)",
        f"  alone: steps of the FMU {own * 1e3:.2f} ms, all of a run {whole * 1e3:.2f} ms (least of 20)",
        f"  all processes while runs were made, workers' start included: {phase:.1f} s, in runs {inside:.1f} s",
        f"  {inside / phase:.1%}; beside the runs {beside * 1e3:.2f} ms for each",
        f"  share of steps in a run {own / whole:.1%}, so in all {own / whole * inside / phase:.1%}",
        f"  wall {ended - begun:.1f} s: of 2 cores {inside / (ended - begun) / 2:.1%} in runs,"
        f" {own / whole * inside / (ended - begun) / 2:.1%} in steps",
        f"  from the call to its return, equations, table and page included, {whole_call:.1f} s:"
        f" {own / whole * inside / whole_call / 2:.1%} in steps",
        f"  FMPy's simulate_fmu {plain * 1e3:.1f} ms, {plain / whole:.2f} times a run of the sweep;",
        f"  with the description read once {once * 1e3:.1f} ms, {once / whole:.2f} times;",
        f"  so on 2 cores {2 * plain / whole:.1f} and {2 * once / whole:.1f} times its runs per second",
    )
    print("\n".join(lines))


def memory(folder: Path, runs: int) -> None:
    """Resident memory of all processes together, in tenths of the sweep."""
    with watched() as seen:
        sweep(folder / "out", runs, stop=0.05)
    times, values = np.array(seen).T
    tenths = np.linspace(times[0], times[-1], 11)
    marks = [values[(times >= a) & (times <= b)] for a, b in pairwise(tenths)]
    print(f"{runs} runs of 0.05 s, MB of all processes by tenths of the time:")
    print("  " + "  ".join(f"{mark.max():.0f}" if len(mark) else "–" for mark in marks))


def _checked(found: gp.Sweep, runs: int) -> None:
    table = found.table
    assert sorted(table["run"]) == list(range(runs)) and not (table["failed"] != "").any()
    numbers = [n for part in (found.folder / "parts").glob("*.npz") for n in np.load(part)["numbers"]]
    print(f"  {len(table)} rows, {len(numbers)} runs in parts, {len(set(numbers))} different, none failed")


def killed(folder: Path, runs: int) -> None:
    """Three workers and twice the command itself, at random times."""
    code = (
        "import sys; sys.path.insert(0, 'benchmarks'); import sweeps, pathlib\n"
        f"if __name__ == '__main__': sweeps.sweep(pathlib.Path({str(folder / 'out')!r}), {runs}, 0.3)"
    )
    script = folder / "command.py"
    script.write_text(code, encoding="utf-8")
    chance, parts = random.Random(1), folder / "out" / "parts"
    for goal, what in ((0.1, "worker"), (0.25, "command"), (0.4, "worker"), (0.5, "worker"), (0.7, "command")):
        command = subprocess.Popen([sys.executable, str(script)])
        while len(list(parts.glob("*.npz"))) == 0 or _done(parts) < goal * runs:
            time.sleep(0.05)
        workers = _workers(command.pid)
        victim = command.pid if what == "command" or not workers else chance.choice(workers).pid
        psutil.Process(victim).kill()
        print(f"  killed a {what}, {victim}, at {_done(parts)} of {runs} runs")
        if what == "worker":
            time.sleep(1.0)
            command.kill()
        command.wait()
    _checked(sweep(folder / "out", runs, 0.3), runs)


def _workers(command: int) -> list[psutil.Process]:
    """Forks of the process that imports for them; where there is none, those that begin by themselves."""
    below = psutil.Process(command).children(recursive=True)
    forks = [p for p in below if p.ppid() != command and "forkserver" in " ".join(p.cmdline())]
    return forks or [p for p in below if "spawn_main" in " ".join(p.cmdline())]


def _done(parts: Path) -> int:
    return sum(int(path.stem.partition("_")[2]) for path in parts.glob("*.npz"))


def scheduler(folder: Path, runs: int) -> None:
    """Dask by processes of its own: one of two workers, then the scheduler, killed by their ids."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    port = address.rpartition(":")[2]
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", port]
    start = [*dask, "--no-dashboard"]
    work = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = [subprocess.Popen(start, **quiet), *(subprocess.Popen(work, **quiet) for _ in range(2))]
    parts = folder / "out" / "parts"

    def disturb() -> None:
        while not parts.exists() or _done(parts) < 0.25 * runs:
            time.sleep(0.05)
        children = psutil.Process(running[1].pid).children()  # the worker below its nanny
        (children[0] if children else psutil.Process(running[1].pid)).kill()
        print(f"  killed a worker at {_done(parts)} of {runs} runs")
        while _done(parts) < 0.5 * runs:
            time.sleep(0.05)
        running[0].kill()
        running[0].wait()
        print(f"  killed the scheduler at {_done(parts)} of {runs} runs; starting another")
        running[0] = subprocess.Popen(start, **quiet)
        running.append(subprocess.Popen(work, **quiet))

    other = threading.Thread(target=disturb)
    other.start()
    try:
        _checked(sweep(folder / "out", runs, 0.3, address), runs)
        other.join()
    finally:
        for process in running:
            process.kill()


PARTS = {
    "share": (share, 1000),
    "memory": (memory, 10_000),
    "killed": (killed, 1000),
    "scheduler": (scheduler, 1000),
}

if __name__ == "__main__":
    chosen, most = PARTS[sys.argv[1]]
    with TemporaryDirectory() as temporary:
        chosen(Path(temporary), int(sys.argv[2]) if len(sys.argv) > 2 else most, *sys.argv[3:])
