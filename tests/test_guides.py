"""The how-to guides as a reader follows them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from helpers_reader import ROOT, Reader, blocks

GUIDES = sorted((ROOT / "docs" / "howto").glob("*.md"))


@pytest.mark.campaign
@pytest.mark.slow
@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_the_commands_of_a_guide_run(page: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    reader = Reader(tmp_path)
    for block in blocks(page):
        reader.follow(block)
        assert [answer.status for answer in reader.answers if answer.status] == [], reader.answers
