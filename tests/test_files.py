"""Files are there completely, or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpmelica.fmu.files.files import write_atomically

_DISK_FULL = """
import resource, sys
from pathlib import Path
from gpmelica.fmu.files.files import write_atomically
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
try:
    write_atomically(Path(sys.argv[1]), b"x" * 100_000)
except OSError as error:
    sys.exit(f"stopped: {error.strerror}")
"""


def test_writes_text_and_bytes_as_they_are(tmp_path: Path) -> None:
    """UTF-8, newlines untouched, missing folders made, an old file replaced."""
    path = tmp_path / "a" / "b.txt"
    write_atomically(path, "‖Φ‖\n\r\n")
    assert path.read_bytes() == "‖Φ‖\n\r\n".encode()
    write_atomically(path, b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    assert os.listdir(path.parent) == ["b.txt"]


@pytest.mark.parametrize("old", [None, b"the old report"])
def test_a_write_that_breaks_off_leaves_what_was_there(tmp_path: Path, old: bytes | None) -> None:
    """The file system takes 5 kB of 100 kB: the old file stays, no half file and no temporary one."""
    pytest.importorskip("resource", reason="needs a POSIX system that limits file sizes")
    path = tmp_path / "report.html"
    if old is not None:
        path.write_bytes(old)
    process = subprocess.run(
        [sys.executable, "-c", _DISK_FULL, str(path)], capture_output=True, text=True, check=False
    )
    assert process.returncode == 1 and "stopped: File too large" in process.stderr, process.stderr
    assert [p.read_bytes() for p in tmp_path.iterdir()] == ([] if old is None else [old])


def test_a_name_that_cannot_be_taken(tmp_path: Path) -> None:
    """Where a folder has the name, the error comes through and no temporary file stays."""
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        write_atomically(tmp_path / "taken", "text")
    assert os.listdir(tmp_path) == ["taken"]


def test_files_are_as_readable_as_any_other(tmp_path: Path) -> None:
    """Permissions follow the umask, as those of a file opened for writing do."""
    plain, atomic = tmp_path / "plain", tmp_path / "atomic"
    plain.write_text("x")
    write_atomically(atomic, "x")
    assert atomic.stat().st_mode == plain.stat().st_mode
