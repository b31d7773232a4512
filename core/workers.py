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
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from pathlib import Path
from typing import Any, Protocol, TypeVar

# The file contains the CPU quota of a container: CPU time per period and length of the period, each in µs.
_QUOTA = Path("/sys/fs/cgroup/cpu.max")
# On Linux, a fork server starts worker processes; on other systems, worker processes start without fork.
_CAN_FORK = sys.platform == "linux"
_SHARE = "GPMELICA_CORES"  # The environment variable contains the number of cores that a worker process may use.
_PERIOD = 0.1  # While a process or job runs, a callback function is called at intervals of this length, s.
_Result = TypeVar("_Result")
_Answer_co = TypeVar("_Answer_co", covariant=True)


def cores() -> int:
    """Return the number of usable processor cores.

    The number is limited by the CPU affinity of the process and by the CPU quota of a container. In a
    worker process, only the worker's share of the cores counts.
    """
    if _SHARE in os.environ:
        return int(os.environ[_SHARE])
    counted = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = _QUOTA.read_text("ascii").split()
        counted = min(counted, math.ceil(int(quota) / int(period)))
    except (OSError, ValueError):  # Without a CPU quota, the quota file is missing or contains `max`.
        pass
    return max(counted, 1)


def call_ahead(*modules: str) -> None:
    """Start a fork server that imports the given modules in the background.

    Worker processes that are forked from this server need not import the modules again. On systems
    without fork servers, the function has no effect.
    """
    if _CAN_FORK:
        from multiprocessing import forkserver  # noqa: PLC0415 - exists on Unix only

        multiprocessing.set_forkserver_preload(list(modules))
        forkserver.ensure_running()


@contextmanager
def worker_processes(
    count: int, ready: Callable[[], object] | None = None, ahead: bool = False
) -> Iterator[ProcessPoolExecutor]:
    """Yield an executor with at most `count` new processes, limited to one process per core.

    Each process may use an equal share of the cores. The processes are not forked from this process,
    because forking a process with threads may deadlock. The processes import the main script, which
    therefore needs `if __name__ == "__main__":`. An exception in the `with` block,
    including Ctrl-C, terminates all workers immediately.

    Parameters
    ----------
    count : int
        Maximum number of processes.
    ready : callable, optional
        Function that each process calls first; it must be picklable.
    ahead : bool
        Whether `call_ahead` has been called.
    """
    others = set(multiprocessing.active_children())
    # Killed worker processes leave temporary files behind, which are deleted with the folder.
    with tempfile.TemporaryDirectory(prefix="gpmelica-", ignore_cleanup_errors=True) as scratch:
        context = multiprocessing.get_context("forkserver" if ahead and _CAN_FORK else "spawn")
        count = max(min(count, cores()), 1)
        # Compilers write temporary files to the folder that the variable TMPDIR names.
        own = {_SHARE: str(cores() // count), "TMPDIR": scratch}
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
            # With an open pipe, the executor would wait forever for a worker that was killed while answering.
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
    """Return environment variables with which a new Python process can import gpmelica.

    The process stores temporary files in the given folder.
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
        # A process in a separate session does not receive the Ctrl-C that interrupts its parent.
        start_new_session=True,
    )
    over = time.monotonic() + limit
    try:
        while time.monotonic() < over:
            with suppress(subprocess.TimeoutExpired):
                return process.wait(min(_PERIOD, max(over - time.monotonic(), 0.0)))
            meanwhile()
        return None
    finally:
        process.kill()
        process.wait()


class _Over(Exception):
    """Exception that ends a job whose result is no longer needed."""


class Awaited(Protocol[_Answer_co]):
    """Type of the function that waits for the result of a job."""

    def __call__(self, meanwhile: Callable[[], object] = ...) -> _Answer_co:
        """Wait for the result and return it. During the wait, call `meanwhile` ten times per second."""


@contextmanager
def beside(job: Callable[[Callable[[], None]], _Result]) -> Iterator[Awaited[_Result]]:
    """Run a job in a thread during a `with` block; yield a function that waits for the result.

    If the job still runs at the end of the block, it is cancelled.

    Parameters
    ----------
    job : callable
        Function with one argument, a callback. The job has to call the callback several times per
        second. After the end of the block, the callback raises an exception, which stops the job. For
        example, the job can call `alone(…, meanwhile=callback)` to run a process.
    """
    over = threading.Event()

    def check() -> None:
        if over.is_set():
            raise _Over

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(copy_context().run, job, check)

        def result(meanwhile: Callable[[], object] = lambda: None) -> _Result:
            while not wait([running], _PERIOD).done:
                meanwhile()
            return running.result()

        try:
            yield result
        finally:
            over.set()


def _begin(environment: Mapping[str, str], ready: Callable[[], object] | None) -> None:
    os.environ.clear()  # The fork server may still have old values of environment variables.
    os.environ.update(environment)
    # The parent process handles Ctrl-C, so worker processes ignore the signal.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tempfile.tempdir = environment["TMPDIR"]
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if ready is not None:
        ready()


def _end_with_parent() -> None:
    """Terminate this worker when the parent process ends.

    Otherwise, the workers of a killed parent would wait for tasks forever.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        shutil.rmtree(tempfile.gettempdir(), ignore_errors=True)
        os._exit(1)
