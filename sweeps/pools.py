"""Who does the work, and what happens when a worker dies: its task is done again, all else stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar

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
class Died:
    """There is no result, because the process that was at work died each time."""

    reason: str


class Crew(Protocol):
    """Workers that can be had again and again."""

    @property
    def size(self) -> int:
        """How many there are."""
        ...

    def opened(self, most: int | None = None) -> AbstractContextManager[Executor]:
        """The workers, or so many of them at most, until the end of the `with` block."""
        ...

    def died(self, error: BaseException) -> Died | None:
        """Whether an error of one task says that its worker has died again and again."""
        ...

    def lost(self, error: BaseException) -> bool:
        """Whether an error says that there are no workers any more, and others have to be opened."""
        ...


@dataclass(frozen=True)
class Processes:
    """Processes of this machine, one per core; `ready` and `ahead` as in `worker_processes`."""

    ready: Callable[[], object] | None = None
    most: int | None = None
    ahead: bool = False

    @property
    def size(self) -> int:
        """One per core."""
        return min(cores(), self.most or cores())

    def opened(self, most: int | None = None) -> AbstractContextManager[Executor]:
        """Fresh ones."""
        return worker_processes(min(self.size, most or self.size), self.ready, self.ahead)

    def died(self, error: BaseException) -> Died | None:
        """None: when one process dies, all are lost, and it cannot be told which task did it."""
        return None

    def lost(self, error: BaseException) -> bool:
        """One of them has died."""
        return isinstance(error, BrokenProcessPool)


@dataclass(frozen=True)
class Here:
    """This process alone, one task after the other; `ready` is what it does first, and `done` last."""

    ready: Callable[[], object]
    done: Callable[[], object]
    size: int = 1

    @contextmanager
    def opened(self, most: int | None = None) -> Iterator[Executor]:
        """A thread."""
        with ThreadPoolExecutor(1, initializer=self.ready) as pool:
            try:
                yield pool
            finally:
                pool.submit(self.done).result()

    def died(self, error: BaseException) -> Died | None:
        """None: nothing is left then."""
        return None

    def lost(self, error: BaseException) -> bool:
        """False: see above."""
        return False


def results(crew: Crew, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[tuple[T, R | Died]]:
    """Each task and its result, in the order in which they end; tasks are taken as workers get free.

    Where workers are lost, the tasks that were under way are done one by one, so that what kills its process harms
    no other one. An exception of the function ends everything.
    """
    source, running = iter(tasks), dict[Future[R], T]()
    while True:
        try:
            with crew.opened() as pool:
                yield from _at_once(crew, pool, function, source, running)
            return
        except Exception as error:
            if not crew.lost(error):
                raise
        suspects = list(running.values())
        running.clear()
        for task in suspects:
            yield task, _alone(crew, function, task)


def _at_once(
    crew: Crew, pool: Executor, function: Callable[[T], R], source: Iterator[T], running: dict[Future[R], T]
) -> Iterator[tuple[T, R | Died]]:
    """Until all tasks are done; `running` tells those that are under way, also when this ends by an exception."""
    while True:
        while len(running) < _AHEAD * crew.size:
            task: Any = next(source, _NOTHING)
            if task is _NOTHING:
                break
            running[_submitted(pool, function, task, running)] = task
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            found = _found(crew, future)
            yield running.pop(future), found


_NOTHING = object()


def _submitted(pool: Executor, function: Callable[[T], R], task: T, running: dict[Future[R], T]) -> Future[R]:
    """What the pool makes of the task; if it has just lost its workers, the task counts as under way."""
    try:
        return pool.submit(function, task)
    except Exception:
        running[Future()] = task
        raise


def _found(crew: Crew, future: Future[R]) -> R | Died:
    try:
        return future.result()
    except Exception as error:
        died = crew.died(error)
        if died is None:
            raise
        return died


def _alone(crew: Crew, function: Callable[[T], R], task: T) -> R | Died:
    for _ in range(_ALONE):
        try:
            with crew.opened(1) as pool:
                return _found(crew, pool.submit(function, task))
        except Exception as error:
            if not crew.lost(error):
                raise
    return Died(f"the process that was at it died {_ALONE + 1} times")
