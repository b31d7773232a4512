"""Page of the preview in a browser: a save is shown, sliders move the mechanism, faults leave the picture."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from helpers_browser import browser, chromium, page_at, until
from helpers_examples import EXAMPLES

from gpmelica.preview.page import page_of
from gpmelica.preview.preview import Preview
from gpmelica.preview.server import PreviewServer

pytestmark = pytest.mark.slow

PAGE = "document.getElementById('preview')"


@contextmanager
def polled(preview: Preview) -> Iterator[None]:
    """A thread that looks at the files, as the command does."""
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.03):
            preview.poll()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def text(page: Any, part: str) -> str:
    return str(page.evaluate(f"{PAGE}.querySelector('{part}').textContent"))


def test_page_follows_the_file_and_the_sliders(tmp_path: Path) -> None:
    """Save, fault, repair and slider on a four-bar linkage, in one page without a complaint."""
    chromium()  # skips the test before anything is made
    path = tmp_path / "four_bar.toml"
    original = (EXAMPLES / "four_bar_3d.toml").read_text(encoding="utf-8")
    path.write_text(original, encoding="utf-8")
    preview = Preview(path)
    with (
        PreviewServer(preview, page_of(preview)) as server,
        polled(preview),
        browser() as found,
        page_at(found, server.url, 1200) as (page, complaints),
    ):
        until(page, f"{PAGE}.dataset.checked === '1' && {PAGE}.preview.player.rendered > 0")
        assert text(page, ".state") == "valid"
        assert text(page, ".forces-table").startswith("drive")
        path.write_text(original.replace('parent = "crank"', 'parent = "crnk"'), encoding="utf-8")
        until(page, f"{PAGE}.dataset.version === '2'")
        assert "did you mean 'crank'?" in text(page, ".tree .flagged .problem")
        assert "last valid state shown" in text(page, ".state")
        assert page.evaluate(f"{PAGE}.preview.player.groups.length") == 3
        without = re.sub(r"\[\[forces\]\][^\[]*", "", original)
        path.write_text(without.replace("FourBar3D", "Renamed"), encoding="utf-8")
        until(page, f"{PAGE}.dataset.checked === '3'")
        assert (text(page, ".state"), page.title()) == ("valid", "Renamed: preview")
        assert text(page, ".forces-table") == "none"
        page.locator(".coordinates input[type=number]").first.fill("1.5")
        page.locator(".coordinates input[type=number]").first.press("Enter")
        until(
            page,
            f"{PAGE}.preview.dials.coordinates.get('crank.angle').value === 1.5 && !{PAGE}.preview.asking",
        )
        assert float(page.evaluate(f"{PAGE}.dataset.residual")) <= 1e-9
        assert page.evaluate(f"Object.keys({PAGE}.preview.moved.coordinates).length") == 3
        page.locator("input.frames").check()
        assert not complaints
        for width in (700, 1600):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
