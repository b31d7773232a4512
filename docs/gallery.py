"""Pictures of all examples at their initial state: `python docs/gallery.py` writes `docs/gallery/*.png`."""

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
    """Draw an example and save the picture with few colours, as a small file."""
    with TemporaryDirectory() as folder:
        gp.load(example).draw(folder)
        with Image.open(Path(folder) / "drawing.png") as picture:
            flat = picture.convert("RGB")
    flat.thumbnail((WIDTH, WIDTH))
    flat.quantize(COLOURS).save(FOLDER / f"{example.stem}.png", optimize=True)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file in sorted((ROOT / "examples").rglob("*.toml")):
        draw(file)
