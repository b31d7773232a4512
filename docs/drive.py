"""Generator of interactive pages: `python docs/drive.py` writes five examples for the web site.

Each page `docs/machines/*.html` simulates a mechanism in a browser. The pages have about 5 MB and
are not in the repository. If they exist, `mkdocs build` includes them in the site.
"""

from __future__ import annotations

from pathlib import Path

import gpmelica as gp

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(__file__).with_name("machines")
# Each key is the file name of a page; each value contains an example, a case, and a file of inputs over time.
MACHINES: dict[str, tuple[str, str | None, str | None]] = {
    "tower_crane": ("tower_crane/tower_crane.toml", None, "tower_crane/commands.csv"),
    "lorry_crane": ("lorry_crane.toml", None, None),
    "slewing": ("slewing/slewing.toml", "plant", None),
    "seven_axis": ("arms/seven_axis.toml", None, None),
    "crane": ("crane.toml", None, None),
}


def write(name: str) -> Path:
    """Simulate an example, write its interactive page, and return the path of the page."""
    file, case, inputs = MACHINES[name]
    model = gp.load(ROOT / "examples" / file, case)
    run = model.simulate(inputs=inputs and ROOT / "examples" / inputs)
    return run.animate(FOLDER / f"{name}.html", live=True)


if __name__ == "__main__":
    for machine in MACHINES:
        print(write(machine))
