"""Processes that work side by side and end together."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager


@contextmanager
def worker_processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """At most so many fresh processes; an exception in the `with` block, Ctrl-C included, ends them at once.

    Fresh ones, since a fork of a process with threads, such as a progress bar's, may hang. So scripts that come
    here need the usual `if __name__ == "__main__":`.
    """
    others = set(multiprocessing.active_children())
    # Workers that are killed cannot tidy up after themselves; their temporary files go with this folder.
    with tempfile.TemporaryDirectory(prefix="gpmelica-", ignore_cleanup_errors=True) as scratch:
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(count, context, initializer=_begin, initargs=(scratch,))
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            workers = set(multiprocessing.active_children()) - others
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.join()
            raise
        pool.shutdown()


def _begin(scratch: str) -> None:
    """What each worker does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the first one decides
    tempfile.tempdir = scratch
    os.environ["TMPDIR"] = scratch  # for compilers
