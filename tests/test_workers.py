"""How many cores there are to use: not more than the machine, its container or the other workers leave."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpmelica import workers


@pytest.mark.parametrize(
    ("quota", "most"), [("max 100000", None), ("100000 100000", 1), ("150000 100000", 2), ("x", None)]
)
def test_cores_of_a_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: str, most: int | None
) -> None:
    """The quota, rounded up; without one, the processors that the process may run on."""
    (tmp_path / "cpu.max").write_text(quota, encoding="ascii")
    monkeypatch.setattr(workers, "_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3}, raising=False)
    assert workers.cores() == (most or 4)


def test_workers_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compilers of each worker and the workers together: no more than there are cores."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1}, raising=False)
    monkeypatch.setattr(workers, "_QUOTA", Path("no such file"))
    with workers.worker_processes(7) as pool:
        assert pool.submit(workers.cores).result(60) == 1
        assert pool._max_workers == 2  # type: ignore[attr-defined]
