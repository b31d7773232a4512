"""Source of the JavaScript library three.js (MIT licence), from the viewer in the package trimesh."""

from __future__ import annotations

import zipfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ...core.errors import MissingToolError

_BEGIN, _END = (
    "/**\n * @license",
    "(function(){const _changeEvent",
)  # The source of three.js begins with the first text (its licence) and ends before the second text.


@cache
def three() -> str:
    """Return the JavaScript of three.js, with its licence.

    The script defines the object `THREE`. MissingToolError is raised if the package trimesh is not
    installed.
    """
    try:
        spec = find_spec("trimesh")
        assert spec is not None and spec.origin is not None
        # The package is located and not imported, because the import takes most of a second.
        with zipfile.ZipFile(Path(spec.origin).parent / "resources" / "templates" / "viewer.zip") as archive:
            text = archive.read("viewer.html.template").decode("utf-8")
        begin = text.index(_BEGIN)
        return text[begin : text.index(_END, begin)].strip()
    except (AssertionError, OSError, KeyError, ValueError, zipfile.BadZipFile):
        raise MissingToolError(
            "the player needs three.js from the package trimesh; run pip install 'trimesh>=5,<6'"
        ) from None
