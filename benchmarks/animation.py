"""Pages with the player: their size, what it takes to make them, and how fast a headless Chromium plays them.

    python benchmarks/animation.py [SECONDS]

prints a table; each page plays 5 s unless told otherwise. Needs the extra `browser` and a Chromium; it draws by
software, on as many cores as there are. Motions are prescribed: what a page shows does not change its speed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers_browser import browser, page_at, until
from helpers_examples import changed
from helpers_problem import problem
from helpers_report import crane, crane_report, disturbed, prescribed_run

from gpmelica import scene
from gpmelica.analysis import ReferenceModel
from gpmelica.mechanism import build
from gpmelica.report.animation import write_animation
from gpmelica.report.report import render

_SIZE = (1000, 800)
_RENDERED = "document.getElementById('player').player.rendered"


def animation(path: Path, name: str = "crane") -> Path:
    """A crane, an FMU's run and the reference's: with an elastic boom, or on a lorry."""
    mechanism = build(changed(name))
    run = prescribed_run(mechanism)
    return write_animation(path, scene.film(problem(mechanism), [disturbed(run, "fmu-native-cs", 1e-9), run]))


def modes(path: Path) -> Path:
    """The crane swinging in as many modes as it has coordinates."""
    mechanism = crane()
    pose = np.array([c.position for c in mechanism.coordinates])
    shapes = 0.1 * np.eye(mechanism.n).astype(complex)
    return write_animation(
        path,
        scene.swinging(
            ReferenceModel(mechanism), pose, [scene.Swing(f"mode {k}", s) for k, s in enumerate(shapes)]
        ),
    )


def report(path: Path) -> Path:
    """The crane's report without its figures: four runs."""
    path.write_text(render(crane_report(), []), encoding="utf-8")
    return path


def measured(found: Any, make: Callable[[Path], Path], seconds: float) -> list[str]:
    """Cells of a row."""
    with TemporaryDirectory() as folder:
        begin = time.process_time()
        page_file = make(Path(folder) / "page.html")
        made = time.process_time() - begin
        with page_at(found, page_file.as_uri(), *_SIZE) as (page, complaints):
            until(page, f"{_RENDERED} > 20")
            first, begin = page.evaluate(_RENDERED), time.perf_counter()
            time.sleep(seconds)
            rate = (page.evaluate(_RENDERED) - first) / (time.perf_counter() - begin)
            ratio = page.evaluate("document.getElementById('player').player.renderer.getPixelRatio()")
        assert not complaints, complaints
        size = page_file.stat().st_size / 1e6
    return [f"{size:.2f}", f"{made:.2f}", f"{rate:.1f}", f"{ratio:.2f}"]


PAGES: dict[str, Callable[[Path], Path]] = {
    "animation.html": animation,
    "the same, lorry": partial(animation, name="lorry_crane"),
    "modes.html": modes,
    "report.html": report,
}


def main(seconds: float) -> None:
    """Print the table, a row per page."""
    crane_report()  # what is made once and for all
    table = Table("page", "MB", "made in, CPU s", "pictures/s", "pixel ratio")
    with browser() as found:
        for name, make in PAGES.items():
            table.add_row(name, *measured(found, make, seconds))
    Console(width=100).print(table)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 5.0)
