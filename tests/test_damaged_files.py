"""Damaged files of all kinds are read or refused in words (`benchmarks/damaged_files.py` tries 5,000)."""

from __future__ import annotations

from pathlib import Path

import pytest
from damaged_files import KINDS, outcome
from helpers_backends import CompileData, driven


@pytest.fixture(scope="module")
def fmu(compile_data: CompileData) -> Path:
    return compile_data(driven()).fmu


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files(kind: str, tmp_path: Path, fmu: Path) -> None:
    """Forty of each kind: no other error than the package's, and most of them are refused."""
    first = list(KINDS).index(kind)
    found = [outcome(first + len(KINDS) * k, tmp_path, fmu) for k in range(40)]
    assert [o for o in found if o.amiss] == []
    assert 15 <= sum(o.refused for o in found) < 40
