"""Worker processes that run in parallel and terminate together."""

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
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from pathlib import Path
from typing import Any, TypeVar

# File with the CPU quota of a container: CPU time per period, and length of the period, both in µs.
_QUOTA = Path("/sys/fs/cgroup/cpu.max")
_CAN_FORK = sys.platform == "linux"  # whether workers can be forked from a server process
_SHARE = "GPMELICA_CORES"  # environment variable with a worker's share of the cores
_Result = TypeVar("_Result")


def cores() -> int:
    """Return the number of usable processor cores.

    The number respects the process's CPU affinity, the CPU quota of a container and, in a worker process,
    the worker's share.
    """
    if _SHARE in os.environ:
        return int(os.environ[_SHARE])
    counted = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = _QUOTA.read_text("ascii").split()
        counted = min(counted, math.ceil(int(quota) / int(period)))
    except (OSError, ValueError):  # the file is missing or contains `max`: no limit
        pass
    return max(counted, 1)


def call_ahead(*modules: str) -> None:
    """Start a fork server that imports the given modules in the background.

    Worker processes that are forked from this server start without delay. On systems without fork servers,
    worker processes import their modules themselves.
    """
    if _CAN_FORK:
        from multiprocessing import forkserver  # noqa: PLC0415 - exists on Unix only

        multiprocessing.set_forkserver_preload(list(modules))
        forkserver.ensure_running()


@contextmanager
def worker_processes(
    count: int, ready: Callable[[], object] | None = None, ahead: bool = False
) -> Iterator[ProcessPoolExecutor]:
    """Yield an executor with at most `count` new processes, and no more than the number of cores.

    The processes share the cores. They are not forked from this process, because a fork of a process with
    threads may deadlock. Scripts that use the executor therefore need `if __name__ == "__main__":`. An
    exception in the `with` block, including Ctrl-C, terminates all workers immediately.

    Parameters
    ----------
    count : int
        Maximum number of processes.
    ready : callable, optional
        Function that each process calls first; it is pickled once per process.
    ahead : bool
        Whether `call_ahead` has been called.
    """
    others = set(multiprocessing.active_children())
    # Killed workers cannot remove their temporary files, which are therefore removed with this folder.
    with tempfile.TemporaryDirectory(prefix="gpmelica-", ignore_cleanup_errors=True) as scratch:
        context = multiprocessing.get_context("forkserver" if ahead and _CAN_FORK else "spawn")
        count = max(min(count, cores()), 1)
        own = {_SHARE: str(cores() // count), "TMPDIR": scratch}  # compilers store temporary files in TMPDIR
        environment = environment_now() | own
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
            # A killed worker may leave an incomplete answer; without this, the pool's thread would wait forever.
            answers._writer.close()
            raise
        pool.shutdown()


def environment_now() -> dict[str, str]:
    """Return the environment variables of this process.

    Unlike a copy of `os.environ`, the function does not fail if another thread removes a variable.
    """
    values = ((name, os.environ.get(name)) for name in list(os.environ))
    return {name: value for name, value in values if value is not None}


def surroundings(folder: Path) -> dict[str, str]:
    """Return environment variables for a Python process that imports gpmelica and keeps its
    temporary files in a folder.
    """
    return {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "TMPDIR": str(folder)}


def alone(
    module: str, folder: Path, limit: float = math.inf, meanwhile: Callable[[], object] = lambda: None
) -> int | None:
    """Run `python -m module folder` and return its exit status.

    The exit status is negative if a signal ended the process, and None if the time limit was reached.
    An exception during the call, including Ctrl-C, terminates the process immediately. The process
    stores its temporary files in the folder.

    Parameters
    ----------
    module : str
        Name of the Python module.
    folder : Path
        Argument of the module.
    limit : float
        Maximum wall time, s.
    meanwhile : callable
        Function that is called ten times per second.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", module, str(folder)],
        env=environment_now() | surroundings(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C interrupts only the parent process
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


class _Over(Exception):
    """Exception that stops a job whose result is no longer needed."""


@contextmanager
def beside(job: Callable[[Callable[[], None]], _Result]) -> Iterator[Callable[[], _Result]]:
    """Run a job in a thread parallel to a `with` block, and yield a function that awaits the result.

    At the end of the block, a job that still runs is cancelled.

    Parameters
    ----------
    job : callable
        Function with one argument, a callback. The job has to call the callback several times per
        second. After the end of the block, the callback raises an exception, which stops the job. The
        function `alone` calls such a callback.
    """
    over = threading.Event()

    def meanwhile() -> None:
        if over.is_set():
            raise _Over

    with ThreadPoolExecutor(1) as pool:
        try:
            yield pool.submit(copy_context().run, job, meanwhile).result
        finally:
            over.set()


def _begin(environment: Mapping[str, str], ready: Callable[[], object] | None) -> None:
    """Set up a new worker process."""
    os.environ.clear()  # the fork server's environment may be outdated
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent handles it
    tempfile.tempdir = environment["TMPDIR"]
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if ready is not None:
        ready()


def _end_with_parent() -> None:
    """Terminate this worker when its parent process ends.

    A parent that is killed cannot terminate its workers, which would otherwise wait for tasks forever.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        shutil.rmtree(tempfile.gettempdir(), ignore_errors=True)
        os._exit(1)
