"""Dask workers on this machine or on a cluster."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager
from functools import partial
from typing import Any

from distributed import Client, KilledWorker, LocalCluster, WorkerPlugin
from distributed.comm import CommClosedError

from ..core.errors import GpmelicaError
from ..core.version import __version__
from ..core.workers import cores
from .pools import Workers
from .runs import Job, receive

_PATIENCE = 60.0  # A Dask scheduler must answer and have workers within this time, s.


class _Receiver(WorkerPlugin):  # type: ignore[misc]
    """Dask plugin that sends the data of a sweep once to each worker, also to workers added later."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.name = f"gpmelica-{job.key}"

    def setup(self, worker: Any) -> None:
        receive(self.job)


def dask(job: Job, address: str | None = None, count: int | None = None) -> Workers:
    """Return the workers of a Dask scheduler; each worker receives the data of the sweep.

    Parameters
    ----------
    job : Job
        Data of the sweep, sent to all workers, also to workers that join the scheduler later.
    address : str, optional
        Address of the scheduler, such as `tcp://host:8786`; by default, a cluster is started on
        this machine.
    count : int, optional
        Maximum number of workers on this machine; by default, one per core.

    Raises
    ------
    GpmelicaError
        If the scheduler does not answer.
    """
    own = min(cores(), count or cores())
    opened = partial(_opened, job, address, own)
    if address is None:
        return Workers(own, opened, fatal=(KilledWorker,))
    with _client(address, own) as client:
        size = int(max(sum(client.nthreads().values()), 1))
    return Workers(size, opened, (CancelledError, CommClosedError, OSError), (KilledWorker,))


@contextmanager
def _opened(job: Job, address: str | None, own: int, most: int | None) -> Iterator[Executor]:
    """Yield the executor of a Dask client; Dask repeats a task on another worker if a worker dies."""
    del most
    with _client(address, own) as client:
        _check_versions(client)
        client.register_plugin(_Receiver(job))
        yield client.get_executor(pure=False)


@contextmanager
def _client(address: str | None, own: int) -> Iterator[Any]:
    # Dask must not log errors, because gpmelica reports them itself.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if address is not None:
        with _connected(address) as client:
            yield client
        return
    with (
        LocalCluster(
            n_workers=own,
            threads_per_worker=1,
            dashboard_address=None,
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def _connected(address: str) -> Any:
    """Connect to a Dask scheduler; wait until it answers and has workers."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            client = Client(address, timeout=5)
            client.wait_for_workers(1, timeout=max(deadline - time.monotonic(), 1.0))
            return client
        except (OSError, TimeoutError, ValueError) as error:
            if time.monotonic() > deadline or isinstance(error, ValueError):
                raise GpmelicaError(
                    f"--scheduler {address}: no Dask scheduler with workers answers"
                    f" ({error!s:.200}); start both by `dask scheduler` and `dask worker {address}`. Finished"
                    " runs are stored, and the same command continues the sweep"
                ) from None
            time.sleep(0.5)


def _check_versions(client: Any) -> None:
    """Raise GpmelicaError if gpmelica is missing on a worker, or has a different version there."""
    try:
        found = client.run(partial(_version))
    except ModuleNotFoundError:
        found = {"a worker": "none"}
    wrong = {address: version for address, version in found.items() if version != __version__}
    if wrong:
        address, version = next(iter(wrong.items()))
        raise GpmelicaError(
            f"the Dask worker {address} has gpmelica {version}, expected {__version__} as on this machine;"
            " install this version on the worker"
        )


def _version() -> str:
    return __version__
