"""Messages about files that are not text, or not there: what they are, and no numbers of the operating system."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from helpers_cli import Command

from gpmelica.cli.console import write_each
from gpmelica.core.errors import DescriptionError, MissingToolError
from gpmelica.core.input_files import read_text


def archive(path: Path, member: str) -> Path:
    """A ZIP archive with one member."""
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(member, b"\xff\x00")
    return path


@pytest.mark.parametrize(
    ("member", "kind"),
    [
        ("modelDescription.xml", "is not UTF-8 text, but an FMU, which the commands compare"),
        ("SystemStructure.ssd", "but an SSP archive"),
        ("other", "but a ZIP archive"),
    ],
)
def test_check_names_the_kind_of_an_archive(gpmelica: Command, tmp_path: Path, member: str, kind: str) -> None:
    answer = gpmelica("check", archive(tmp_path / "a.toml", member))
    assert answer.status == 2 and kind in answer.err


def test_other_binary_files_and_large_ones(tmp_path: Path) -> None:
    """A picture, a program, unknown bytes, large files, and text that begins like a picture."""
    file = tmp_path / "file"
    for content, text in (
        (b"\x89PNG\r\n\x1a\n\xff", "a PNG picture"),
        (b"\x7fELF\xff", "a compiled program or library"),
        (b"abc\xff", r"is not UTF-8 text \(byte 3\)"),
        (b"\x89PNG" + bytes(200), "a PNG picture"),
        (b"x" * 200, "is too large"),
    ):
        file.write_bytes(content)
        with pytest.raises(DescriptionError, match=text):
            read_text(file, 100)
    file.write_bytes(b"GIF8 = 1")
    assert read_text(file, 100) == "GIF8 = 1"


@pytest.mark.parametrize(
    "arguments", [("compare", "none.fmu", "none.fmu"), ("cosim", "none.ssp"), ("check", "none.toml")]
)
def test_missing_files_have_no_error_numbers(gpmelica: Command, arguments: tuple[str, ...]) -> None:
    answer = gpmelica(*arguments)
    assert answer.status == 2 and "No such file or directory" in answer.err and "Errno" not in answer.err


def test_files_are_written_although_a_tool_for_one_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    """The others are written, the reason is printed, the status is 3; without any file, the error remains."""

    def write(path: Path) -> Path:
        if path.suffix == ".mp4":
            raise MissingToolError("an mp4 needs ffmpeg")
        return path

    written = write_each([Path("a.gif"), Path("a.mp4"), Path("a.html")], write)
    assert written.show(as_json=False) == 3
    assert written.paths == [Path("a.gif"), Path("a.html")]
    assert "not written: a.mp4: an mp4 needs ffmpeg" in capsys.readouterr().err
    assert write_each([Path("a.gif")], write).show(as_json=True) == 0
    with pytest.raises(MissingToolError):
        write_each([Path("a.mp4")], write)
