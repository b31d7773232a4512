"""The documentation says what the code does: pages that are made from it are up to date."""

from __future__ import annotations

import ast
import re
import runpy
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpmelica.cli.app import app
from gpmelica.description import schema
from gpmelica.description.types.joints import JOINT_TYPES
from gpmelica.plausibility import KINDS

ROOT = Path(__file__).resolve().parent.parent
UNITS = "m m² m⁴ kg kg·m² kg/m³ s 1/s Hz N N·m N/m N·s/m Pa m/s m/s² rad rad/s 1/rad s/rad A N/A N·m/A"
COUNTS = {"schema", "elements", "order"}
DIRECTIONS = {"axis", "normal"}
IN_THE_USERS_UNIT = {"parameters", "set", "value", "min", "max"}


def _keys() -> Iterator[tuple[str, dict[str, Any], str]]:
    """Every key: its name with its table's, its schema, and what the schema says of it."""
    whole = schema()
    for table, content in {"top level": whole, **whole["$defs"]}.items():
        for key, value in content["properties"].items():
            reference = whole["$defs"].get(str(value.get("$ref", "")).rpartition("/")[2], {})
            yield f"{table}.{key}", value, value.get("description") or reference.get("description", "")


@pytest.mark.parametrize(("key", "value", "text"), [pytest.param(*entry, id=entry[0]) for entry in _keys()])
def test_every_key_has_a_description_and_a_unit(key: str, value: dict[str, Any], text: str) -> None:
    assert text.endswith(".")
    name = key.rpartition(".")[2]
    if "number" in str(value) and name not in COUNTS | DIRECTIONS | IN_THE_USERS_UNIT:
        words = set(re.split(r"[(),;:\s]+", text.removesuffix(".")))
        assert words & {"dimensionless", "`unit`", "`output_unit`", *UNITS.split()}


@pytest.mark.parametrize("kind", JOINT_TYPES)
def test_every_joint_is_explained_and_drawn(kind: str) -> None:
    page = (ROOT / "docs" / "joints.md").read_text(encoding="utf-8")
    assert kind in page.lower()
    motions = JOINT_TYPES[kind]
    if len(motions) > 1:
        picture = f"pictures/joint_{kind}.svg"
        assert picture in page
        text = (ROOT / "docs" / picture).read_text(encoding="utf-8")
        captions = [f"{k}. {motion.coordinate}: {motion.kind}" for k, motion in enumerate(motions, start=1)]
        assert [caption for caption in captions if caption not in text] == []


def test_page_of_keys_is_the_schemas() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "keys.py"))["page"]()
    assert (ROOT / "docs" / "keys.md").read_text(encoding="utf-8") == page, "run python docs/keys.py"
    assert set(re.findall(r"\]\(#(\w+)\)", page)) <= set(re.findall(r'<a id="(\w+)">', page))


@pytest.mark.parametrize("kind", KINDS)
def test_every_remark_is_explained(kind: str) -> None:
    """The page has a row for each kind: id, question, limit, likely cause."""
    page = (ROOT / "docs" / "plausible.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith(f"| `{kind}` |")]
    assert rows and all(line.count(" | ") == 3 for line in rows)


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if f": {page}\n" not in navigation] == []


def test_every_page_to_drive_is_linked_with_an_existing_picture() -> None:
    """The script, which needs minutes, writes the pages to which the document links."""
    page = (ROOT / "docs" / "drive.md").read_text(encoding="utf-8")
    machines = runpy.run_path(str(ROOT / "docs" / "drive.py"))["MACHINES"]
    assert re.findall(r"machines/(\w+)\.html", page) == list(machines) and len(machines) == 5
    for file, _, inputs in machines.values():
        assert all((ROOT / "examples" / name).is_file() for name in (file, inputs) if name)
    assert all(
        (ROOT / "docs" / f"gallery/{name}.png").is_file() for name in re.findall(r"gallery/(\w+)\.png", page)
    )


def test_every_example_is_in_the_gallery() -> None:
    gallery = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    for path in (ROOT / "examples").rglob("*.toml"):
        assert f" {path.relative_to(ROOT).as_posix()}" in gallery
        assert f"gallery/{path.stem}.png" in gallery
        assert (ROOT / "docs" / "gallery" / f"{path.stem}.png").is_file()


def test_every_command_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    commands = [
        command.name or command.callback.__name__ for command in app.registered_commands if command.callback
    ]
    assert [name for name in commands if f"`gpmelica {name}" not in page] == []


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.stem)
def test_descriptions_and_programs_in_pages_are_well_formed(path: Path) -> None:
    """Blocks of TOML and Python can be parsed."""
    page = path.read_text(encoding="utf-8")
    for indent, language, content in re.findall(r"^( *)```(toml|python)\b[^\n]*\n(.*?)^ *```$", page, re.M | re.S):
        text = re.sub(f"^{indent}", "", content, flags=re.M)
        if language == "python":
            ast.parse(text)
        elif "…" not in text:
            tomllib.loads(text)
