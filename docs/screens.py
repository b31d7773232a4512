"""Pictures of pages for the documentation: `python docs/screens.py` writes `docs/pictures/view.png` and
`docs/pictures/report.png`.

The script needs the extra `browser` and a Chromium in the path.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

import gpmelica as gp
from gpmelica.preview.page import page_of
from gpmelica.preview.preview import Preview
from gpmelica.preview.server import PreviewServer

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES, FOLDER = ROOT / "examples", Path(__file__).with_name("pictures")
WIDTH, COLOURS = 1280, 256
# A browser without a graphics card draws a page within this time, s.
_DRAWING = 5.0


@contextmanager
def window(height: int) -> Iterator[Any]:
    """Yield an empty page in a browser window of the given height, pixels.

    The browser renders by software, so that no graphics card is necessary.
    """
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--enable-unsafe-swiftshader"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        yield browser.new_page(viewport={"width": WIDTH, "height": height})
        browser.close()


def save(page: Any, name: str) -> None:
    """Save a picture of the browser window; few colours keep the file small."""
    path = FOLDER / f"{name}.png"
    page.screenshot(path=path)
    with Image.open(path) as picture:
        flat = picture.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE)
    flat.save(path, optimize=True)


def draw_preview() -> None:
    """Draw the preview of the loader crane with all symbols."""
    preview = Preview(EXAMPLES / "loader_crane" / "loader_crane.toml")
    with PreviewServer(preview, page_of(preview)) as server, window(800) as page:
        page.goto(server.url)
        page.wait_for_selector("canvas")
        time.sleep(_DRAWING)
        for box in page.locator("input[type=checkbox]").all():
            box.check()
        time.sleep(_DRAWING)
        save(page, "view")


def draw_report() -> None:
    """Save a picture of the upper part of a report page, about a lorry crane that tips."""
    with TemporaryDirectory() as folder, window(1240) as page:
        gp.load(EXAMPLES / "lorry_crane.toml", "tips").run(folder)
        page.goto((Path(folder) / "report.html").as_uri())
        page.wait_for_selector("canvas")
        time.sleep(_DRAWING)
        save(page, "report")


if __name__ == "__main__":
    draw_preview()
    draw_report()
