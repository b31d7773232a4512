"""Processes that work side by side and end together."""

from __future__ import annotations

import math
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_QUOTA = Path("/sys/fs/cgroup/cpu.max")  # of a container: microseconds of how many
_CAN_FORK = sys.platform == "linux"  # from a process that has nothing but modules
_SHARE = "GPMELICA_CORES"  # of a worker: how many of the cores are its own


def cores() -> int:
    """Return the number of usable cores by affinity, container quota and this worker's share."""
    if _SHARE in os.environ:
        return int(os.environ[_SHARE])
    counted = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = _QUOTA.read_text("ascii").split()
        counted = min(counted, math.ceil(int(quota) / int(period)))
    except (OSError, ValueError):  # no such file, or `max`: no limit
        pass
    return max(counted, 1)


def call_ahead(*modules: str) -> None:
    """Let a process begin to import what `worker_processes` need: forked from it, they work at once.

    Where processes cannot be forked from another one, workers import their modules themselves.
    """
    if _CAN_FORK:
        from multiprocessing import forkserver  # noqa: PLC0415 - of Unix alone

        multiprocessing.set_forkserver_preload(list(modules))
        forkserver.ensure_running()


@contextmanager
def worker_processes(
    count: int, ready: Callable[[], object] | None = None, ahead: bool = False
) -> Iterator[ProcessPoolExecutor]:
    """At most so many fresh processes, and no more than `cores`, which they share.

    ready   what each of them does before all else; it goes there pickled, once
    ahead   whether `call_ahead` has been called
    An exception in the `with` block, Ctrl-C included, ends them at once.

    No forks of this one, since that of a process with threads, such as a progress bar's, may hang. So scripts that
    come here need the usual `if __name__ == "__main__":`.
    """
    others = set(multiprocessing.active_children())
    # Workers that are killed cannot tidy up after themselves; their temporary files go with this folder.
    with tempfile.TemporaryDirectory(prefix="gpmelica-", ignore_cleanup_errors=True) as scratch:
        context = multiprocessing.get_context("forkserver" if ahead and _CAN_FORK else "spawn")
        count = max(min(count, cores()), 1)
        own = {_SHARE: str(cores() // count), "TMPDIR": scratch}  # TMPDIR: for compilers
        environment = dict(os.environ) | own
        pool = ProcessPoolExecutor(count, context, initializer=_begin, initargs=(environment, ready))
        try:
            yield pool
        except BaseException:
            answers: Any = pool._result_queue
            pool.shutdown(wait=False, cancel_futures=True)
            workers = set(multiprocessing.active_children()) - others
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.join()
            # else the pool's thread, for which the interpreter waits, waits for the rest of an answer
            answers._writer.close()
            raise
        pool.shutdown()


def surroundings(folder: Path) -> dict[str, str]:
    """Return variables for a Python process that imports gpmelica and keeps its temporary files in a folder."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "TMPDIR": str(folder)}


def alone(
    module: str, folder: Path, limit: float = math.inf, meanwhile: Callable[[], object] = lambda: None
) -> int | None:
    """Run `python -m module folder`; return its exit status, minus a signal's number, or None after `limit`.

    limit      time by the clock, s, at most
    meanwhile  done ten times a second
    An exception here, Ctrl-C included, ends it at once. Its temporary files are in the folder.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", module, str(folder)],
        env=os.environ | surroundings(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C comes to the first process alone
    )
    over = time.monotonic() + limit
    try:
        while time.monotonic() < over:
            with suppress(subprocess.TimeoutExpired):
                return process.wait(min(0.1, max(over - time.monotonic(), 0.0)))
            meanwhile()
        return None
    finally:
        process.kill()
        process.wait()


def _begin(environment: Mapping[str, str], ready: Callable[[], object] | None) -> None:
    """Set up a new worker process."""
    os.environ.clear()  # those of the process that it was forked from may be older
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the first one decides
    tempfile.tempdir = environment["TMPDIR"]
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if ready is not None:
        ready()


def _end_with_parent() -> None:
    """A process that is killed cannot end its workers, which would wait for tasks for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        shutil.rmtree(tempfile.gettempdir(), ignore_errors=True)
        os._exit(1)
