"""Server of the preview, which runs until the user ends it."""

from __future__ import annotations

import time
import webbrowser
from collections.abc import Callable
from pathlib import Path

from .page import page_of
from .preview import Preview
from .server import PreviewServer

_INTERVAL = 0.03  # Interval between two checks of the files for changes, s.


def view(
    path: Path, case: str | None = None, port: int = 0, browser: bool = True, say: Callable[[str], None] = print
) -> None:
    """Serve the preview of a description on this computer until a keyboard interrupt (Ctrl-C).

    Parameters
    ----------
    path : Path
        Description file.
    case : str, optional
        Name of the case that the page shows at first.
    port : int
        Port of the server; 0 for a free one.
    browser : bool
        Whether to open the page in the user's browser.
    say : callable
        Function that is called with each line of text for the user.

    Raises
    ------
    DescriptionError
        If the port cannot be used.
    MissingToolError
        Without the package trimesh, which contains three.js.
    OSError
        If the file does not exist.
    """
    preview = Preview(path, case or "")
    try:
        with PreviewServer(preview, page_of(preview), port) as server:
            say(f"preview of {path}: {server.url}")
            say("Ctrl-C ends the preview")
            if browser:
                webbrowser.open(server.url)
            while True:
                time.sleep(_INTERVAL)
                preview.poll()
    except KeyboardInterrupt:
        say("")
