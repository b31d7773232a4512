"""A Chromium that is there, for tests of pages: the browser's own, drawing by software."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str:
    """Path of a browser; skips the test where there is none, or no Playwright to drive it."""
    pytest.importorskip("playwright", reason="needs the extra `browser`: pip install gpmelica[browser]")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip(f"needs a browser: none of {', '.join(_NAMES)} is on the path, and CHROMIUM names none")
    return found


@contextmanager
def browser() -> Iterator[Any]:
    """Playwright's object of the browser."""
    path = chromium()
    sync_playwright = import_module("playwright.sync_api").sync_playwright
    # WebGL by software, but not the page itself, as `--use-angle=swiftshader` would have it: 40 ms a picture
    drawing = ["--enable-unsafe-swiftshader", "--no-sandbox"]
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=drawing)
        try:
            yield found
        finally:
            found.close()


@contextmanager
def page_at(found: Any, url: str, width: int, height: int = 900) -> Iterator[tuple[Any, list[str]]]:
    """An open page and what its console complains of."""
    page, complaints = found.new_page(viewport={"width": width, "height": height}), []

    def listen(message: Any) -> None:
        # a browser that draws by software says of itself that it reads back what was drawn
        if message.type in ("error", "warning") and "GL Driver Message" not in message.text:
            complaints.append(message.text)

    page.on("console", listen)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.goto(url)
    try:
        yield page, complaints
    finally:
        page.close()


def until(page: Any, condition: str, seconds: float = 30.0) -> None:
    """Wait for a condition in JavaScript; Playwright's own way needs eval, which our pages forbid."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"not within {seconds:g} s: {condition}"
        time.sleep(0.05)


# Boxes of all text that is seen, in CSS pixels.
TEXTS = """() => {
  const boxes = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, owner = node.parentElement;
    const silent = ["SCRIPT", "STYLE", "OPTION"].includes(owner.tagName);
    if (silent || !node.textContent.trim() || !owner.checkVisibility()) continue;
    const range = document.createRange(), text = node.textContent.trim().slice(0, 40);
    range.selectNodeContents(node);
    for (const { x, y, width, height } of range.getClientRects())
      if (width > 1 && height > 1) boxes.push({ text, x, y, w: width, h: height });
  }
  return boxes;
}"""


def overlaps(boxes: list[dict[str, Any]]) -> list[str]:
    """Pairs of texts that lie on each other, by more than two pixels both ways."""
    found = []
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            across = min(a["x"] + a["w"], b["x"] + b["w"]) - max(a["x"], b["x"])
            # the box of a line has room above and below its letters
            room = 0.25 * min(a["h"], b["h"])
            down = min(a["y"] + a["h"], b["y"] + b["h"]) - max(a["y"], b["y"]) - room
            if across > 2 and down > 2:
                found.append(f"{a['text']!r} on {b['text']!r}")
    return found


def text_on_text(page: Any) -> list[str]:
    """Pairs of texts that lie on each other at 1000 or 1600 pixels, all that closes open; nothing goes beyond."""
    found: list[str] = []
    page.evaluate("() => document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    for width in (1000, 1600):
        page.set_viewport_size({"width": width, "height": 900})
        found += overlaps(page.evaluate(TEXTS))
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    return found
