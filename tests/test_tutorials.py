"""The tutorials as a reader follows them."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers_reader import ROOT, Reader, blocks

# These take up to a minute and a half; a campaign runs them.
LONG = dict.fromkeys(("controller", "loader_crane", "two_parts", "urdf_robot"), pytest.mark.campaign)
TUTORIALS = [
    pytest.param(page, id=page.stem, marks=[LONG[page.stem]] if page.stem in LONG else [])
    for page in sorted((ROOT / "docs" / "tutorials").glob("*.md"))
]


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS)
def test_a_reader_can_follow_the_tutorial(page: Path, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for block in blocks(page):
        reader.follow(block)
