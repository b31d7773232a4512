"""Who does the work, and what happens when a worker dies: its task is done again, all else stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, TypeVar

from ..core.workers import call_ahead, cores, worker_processes

T = TypeVar("T")
R = TypeVar("R")
_ALONE = 2  # times that a task is tried by itself whose worker has died
_AHEAD = 2  # tasks that wait for each worker


def has_dask() -> bool:
    """Whether the package distributed is installed."""
    return find_spec("distributed") is not None


def by_processes(scheduler: str) -> bool:
    """Whether `--scheduler` means processes of this machine."""
    return scheduler in ("auto", "processes")


def call_workers(scheduler: str) -> None:
    """Let a process begin to import what runs need, if they are made on this machine; see `call_ahead`."""
    if by_processes(scheduler):
        # the last two FMPy imports no sooner than it reads an FMU
        call_ahead("gpmelica.sweeps.runs", "lxml.etree", "fmpy.validation")


@dataclass(frozen=True)
class WorkerCrash:
    """There is no result, because the process that was at work died each time."""

    reason: str


@dataclass(frozen=True)
class Workers:
    """Executors of `concurrent.futures`, and the errors by which they say that workers died.

    Parameters
    ----------
    size
        Number of workers.
    opened
        Function of the largest number of workers, or None; returns an executor for a `with` statement.
    lost
        Errors that say that the executor has no workers any more; a new one has to be opened.
    fatal
        Errors of one task that say that its workers died again and again.
    """

    size: int
    opened: Callable[[int | None], AbstractContextManager[Executor]]
    lost: tuple[type[BaseException], ...] = ()
    fatal: tuple[type[BaseException], ...] = ()


def processes(
    ready: Callable[[], object] | None = None, most: int | None = None, *, ahead: bool = False
) -> Workers:
    """Return processes of this machine, one per core; when one dies, all of them are lost.

    loky's processes were tried: they need 2.8 s until two of them work where these need 1.1 s, or 0.1 s if they
    were called ahead; they outlive a parent that is killed; and a task whose process dies has to be found in the
    same way.

    Parameters
    ----------
    ready
        Function that each process calls first.
    most
        Largest number of processes.
    ahead
        Whether `call_ahead` has been called.
    """
    size = min(cores(), most or cores())

    def opened(count: int | None) -> AbstractContextManager[Executor]:
        return worker_processes(min(size, count or size), ready, ahead)

    return Workers(size, opened, lost=(BrokenProcessPool,))


def here(ready: Callable[[], object], done: Callable[[], object]) -> Workers:
    """Return this process as the only worker.

    Parameters
    ----------
    ready
        Function that is called before the first task.
    done
        Function that is called after the last task.
    """

    @contextmanager
    def opened(count: int | None) -> Iterator[Executor]:
        with ThreadPoolExecutor(1, initializer=ready) as pool:
            try:
                yield pool
            finally:
                pool.submit(done).result()

    return Workers(1, opened)


def results(
    workers: Workers, function: Callable[[T], R], tasks: Iterable[T]
) -> Iterator[tuple[T, R | WorkerCrash]]:
    """Each task and its result, in the order in which they end; tasks are taken as workers get free.

    Where workers are lost, the tasks that were under way are done one by one, so that what kills its process harms
    no other one. An exception of the function ends everything.
    """
    source, running = iter(tasks), dict[Future[R], T]()
    while True:
        try:
            with workers.opened(None) as pool:
                yield from _at_once(workers, pool, function, source, running)
            return
        except workers.lost:
            pass
        suspects = list(running.values())
        running.clear()
        for task in suspects:
            yield task, _alone(workers, function, task)


def _at_once(
    workers: Workers, pool: Executor, function: Callable[[T], R], source: Iterator[T], running: dict[Future[R], T]
) -> Iterator[tuple[T, R | WorkerCrash]]:
    """Until all tasks are done; `running` tells those that are under way, also when this ends by an exception."""
    while True:
        while len(running) < _AHEAD * workers.size:
            task: Any = next(source, _NOTHING)
            if task is _NOTHING:
                break
            running[_submitted(pool, function, task, running)] = task
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            found = _found(workers, future)
            yield running.pop(future), found


_NOTHING = object()


def _submitted(pool: Executor, function: Callable[[T], R], task: T, running: dict[Future[R], T]) -> Future[R]:
    """Submit the task to the pool; if workers were just lost, the task counts as running."""
    try:
        return pool.submit(function, task)
    except Exception:
        running[Future()] = task
        raise


def _found(workers: Workers, future: Future[R]) -> R | WorkerCrash:
    try:
        return future.result()
    except workers.fatal:
        return WorkerCrash("the workers that were at it died")


def _alone(workers: Workers, function: Callable[[T], R], task: T) -> R | WorkerCrash:
    for _ in range(_ALONE):
        try:
            with workers.opened(1) as pool:
                return _found(workers, pool.submit(function, task))
        except workers.lost:
            continue
    return WorkerCrash(f"the process that was at it died {_ALONE + 1} times")
