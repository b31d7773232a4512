"""three.js, out of the viewer that the package trimesh ships (MIT licence, as three.js itself)."""

from __future__ import annotations

import zipfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ...core.errors import MissingToolError

_BEGIN, _END = "/**\n * @license", "(function(){const _changeEvent"  # its licence; the controls that follow it


@cache
def three() -> str:
    """JavaScript that defines `THREE`, licence included; raises MissingToolError where there is none."""
    try:
        spec = find_spec("trimesh")
        assert spec is not None and spec.origin is not None
        # not imported: that takes most of a second
        with zipfile.ZipFile(Path(spec.origin).parent / "resources" / "templates" / "viewer.zip") as archive:
            text = archive.read("viewer.html.template").decode("utf-8")
        begin = text.index(_BEGIN)
        return text[begin : text.index(_END, begin)].strip()
    except (AssertionError, OSError, KeyError, ValueError, zipfile.BadZipFile):
        raise MissingToolError(
            "the player needs three.js out of the package trimesh; pip install 'trimesh>=5,<6'"
        ) from None
