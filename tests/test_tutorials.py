"""The tutorials as a reader follows them."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers_reader import ROOT, Reader, blocks

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_reader_can_follow_the_tutorial(page: Path, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for block in blocks(page):
        reader.follow(block)
