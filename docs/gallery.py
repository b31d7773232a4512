"""Pictures of all examples in the initial state, and one picture of a sweep.

The command `python docs/gallery.py` writes the files `docs/gallery/*.png`.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

import gpmelica as gp

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(__file__).with_name("gallery")
WIDTH = 640  # pixels
COLOURS = 64


def draw(example: Path) -> None:
    """Draw an example and save the picture; few colours keep the file small."""
    with TemporaryDirectory() as folder:
        gp.load(example).draw(folder)
        _save(Path(folder) / "drawing.png", example.stem)


def draw_sweep() -> None:
    """Draw a map of the lorry crane's smallest support force as a function of the keys `payload` and
    `way`.
    """
    forces = ", ".join(f"{place}_force" for place in ("front_left", "front_right", "rear_left", "rear_right"))
    keys = {"payload": "500:2500:9", "way": "0:1.5:7"}
    with TemporaryDirectory() as folder:
        found = gp.sweep(
            gp.load(ROOT / "examples" / "lorry_crane.toml"), keys, out=folder, maximize=f"load=min(min({forces}))"
        )
        _save(found.folder / "figures" / "map_load.png", "sweep_map", 256, Image.Quantize.MAXCOVERAGE)


def _save(
    path: Path, name: str, colours: int = COLOURS, method: Image.Quantize = Image.Quantize.MEDIANCUT
) -> None:
    with Image.open(path) as picture:
        flat = picture.convert("RGB")
    flat.thumbnail((WIDTH, WIDTH))
    flat.quantize(colours, method).save(FOLDER / f"{name}.png", optimize=True)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file in sorted((ROOT / "examples").rglob("*.toml")):
        draw(file)
    draw_sweep()
