"""docs/complaints.md: the tests that it names exist; and those of its answers that no other test shows."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path, PurePosixPath

from helpers_backends import CompileData, pendulum

TESTS = Path(__file__).parent
DOCUMENT = TESTS.parent / "docs" / "complaints.md"


def _sections() -> list[str]:
    return DOCUMENT.read_text(encoding="utf-8").split("\n## ")[1:]


def test_ten_complaints_with_source_and_test() -> None:
    """Ten sections, each with at least one thread of a tracker and one test; every test is there."""
    sections = _sections()
    assert len(sections) == 10
    for section in sections:
        assert re.search(r"https://github\.com/[\w.-]+/[\w.-]+/issues/\d+", section), section
        named = re.findall(r"`tests/(test_\w+\.py)::(test_\w+)`", section)
        assert named, section
        for file, test in named:
            assert f"\ndef {test}(" in (TESTS / file).read_text(encoding="utf-8"), f"{file} has no {test}"


def test_paths_inside_are_short(compile_data: CompileData) -> None:
    """No path in the archive has more than 80 characters beside the model's name."""
    compiled = compile_data(pendulum(), finished=True)
    with zipfile.ZipFile(compiled.fmu) as archive:
        names = archive.namelist()
    assert max(len(name.replace(compiled.model.name, "")) for name in names) < 80
    assert not any(PurePosixPath(name).is_absolute() or ".." in name for name in names)
