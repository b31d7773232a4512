"""docs/complaints.md: the tests that it names exist; and those of its answers that no other test shows."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import fmpy
import numpy as np
import pytest
from helpers_backends import Compiled

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


@pytest.mark.skipif(sys.platform != "linux", reason="reads ELF files")
def test_binary_needs_only_the_c_runtime(hanging: Compiled) -> None:
    """The binary asks the loader for libc and libm alone."""
    readelf = shutil.which("readelf")
    if readelf is None:
        pytest.skip("readelf is not installed")
    (library,) = hanging.folder.glob("binaries/*/*.so")
    done = subprocess.run([readelf, "-d", str(library)], capture_output=True, text=True, check=True)
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", done.stdout)
    assert set(needed) <= {"libc.so.6", "libm.so.6"}


def test_folders_with_spaces_letters_and_long_names(hanging: Compiled, tmp_path: Path) -> None:
    """The FMU runs as well in a folder whose name has spaces, letters of any kind and some 200 bytes."""
    folder = tmp_path / ("Krän mit Ausleger 吊车 " + "x" * 150)
    shutil.copytree(hanging.folder, folder)
    plain, there = (
        fmpy.simulate_fmu(str(f), fmi_type="CoSimulation", stop_time=0.1, output=["rod_angle"])
        for f in (hanging.folder, folder)
    )
    assert np.array_equal(plain["rod_angle"], there["rod_angle"])


def test_paths_inside_are_short(hanging: Compiled) -> None:
    """No path in the archive has more than 80 characters beside the model's name."""
    with zipfile.ZipFile(hanging.fmu) as archive:
        names = archive.namelist()
    assert max(len(name.replace(hanging.model.name, "")) for name in names) < 80
    assert not any(PurePosixPath(name).is_absolute() or ".." in name for name in names)
