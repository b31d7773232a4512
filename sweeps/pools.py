"""Worker pools, which distribute tasks to workers and repeat a task if its worker died."""

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
# After a worker process has died, its task is repeated in a separate process at most this number of times.
_ALONE = 2
# Each worker has this number of submitted tasks, so that the next task is available at once.
_AHEAD = 2


def has_dask() -> bool:
    return find_spec("distributed") is not None


def by_processes(scheduler: str) -> bool:
    """Return whether the value of `--scheduler` means worker processes of this machine."""
    return scheduler in ("auto", "processes")


def call_workers(scheduler: str) -> None:
    """Start worker processes in the background, before the first task needs them.

    The processes immediately import their modules, so that the first task starts without delay. If the
    scheduler does not use worker processes of this machine, the function does nothing.
    """
    if by_processes(scheduler):
        # FMPy imports lxml.etree and fmpy.validation late, so both modules are imported in advance.
        call_ahead("gpmelica.sweeps.runs", "lxml.etree", "fmpy.validation")


@dataclass(frozen=True)
class WorkerCrash:
    """Placeholder for the result of a task whose worker process died at each attempt."""

    reason: str


@dataclass(frozen=True)
class Workers:
    """Pool of workers for a sweep, used through an executor of `concurrent.futures`.

    Attributes
    ----------
    size : int
        Number of workers.
    opened : callable
        Function that returns an executor as a context manager. The argument is the maximum number
        of workers; None means `size`.
    lost : tuple of exception types
        Exceptions that an executor raises if its workers have died and it must be opened again.
    fatal : tuple of exception types
        Exceptions that an executor raises for a task whose workers died repeatedly.
    """

    size: int
    opened: Callable[[int | None], AbstractContextManager[Executor]]
    lost: tuple[type[BaseException], ...] = ()
    fatal: tuple[type[BaseException], ...] = ()


def processes(
    ready: Callable[[], object] | None = None, most: int | None = None, *, ahead: bool = False
) -> Workers:
    """Return worker processes of this machine, one per core.

    If one process dies, the executor loses all its processes. The package loky was tested as an
    alternative and has the same problem. In addition, its processes take longer to start (2.8 s instead
    of 1.1 s), and continue if their parent is killed.

    Parameters
    ----------
    ready : callable, optional
        Function that each process calls first.
    most : int, optional
        Maximum number of processes.
    ahead : bool
        Whether `call_ahead` has been called.
    """
    size = min(cores(), most or cores())

    def opened(count: int | None) -> AbstractContextManager[Executor]:
        return worker_processes(min(size, count or size), ready, ahead)

    return Workers(size, opened, lost=(BrokenProcessPool,))


def here(ready: Callable[[], object], done: Callable[[], object]) -> Workers:
    """Return a worker pool that executes all tasks in the present process.

    Parameters
    ----------
    ready : callable
        Function that is called before the first task.
    done : callable
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
    """Yield each task and its result in the order of completion.

    A new task is taken from the iterable when a worker becomes available. If worker processes die,
    the unfinished tasks are repeated one at a time. A task fails only if its process dies again in
    each repetition. An exception in `function` ends the iteration.
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
    """Yield tasks and their results in the order of completion; several workers execute the tasks.

    The function keeps all unfinished tasks in the argument `running`, where the caller finds them
    after an exception.
    """
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
    """Submit a task to the pool.

    If the pool has just lost its workers, the task is recorded as running, so that it is repeated
    later.
    """
    try:
        return pool.submit(function, task)
    except Exception:
        running[Future()] = task
        raise


def _found(workers: Workers, future: Future[R]) -> R | WorkerCrash:
    try:
        return future.result()
    except workers.fatal:
        return WorkerCrash("all workers that executed the run died")


def _alone(workers: Workers, function: Callable[[T], R], task: T) -> R | WorkerCrash:
    for _ in range(_ALONE):
        try:
            with workers.opened(1) as pool:
                return _found(workers, pool.submit(function, task))
        except workers.lost:
            continue
    return WorkerCrash(f"the worker process died {_ALONE + 1} times during this run")
