"""Examples with some of their keys changed."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from gpmelica.description import Description
from gpmelica.description.load import from_data

EXAMPLES = Path(__file__).parents[1] / "examples"
FORMULATIONS = ("gpme", "gpme_reduced", "lagrange")


def changed(example: str, case: str | None = None, **keys: Any) -> Description:
    """A case of an example; `constraints__alpha=0.0` sets its key constraints.alpha, whatever the case says."""
    data = tomllib.loads((EXAMPLES / f"{example}.toml").read_text(encoding="utf-8"))
    own = next((entry.get("set", {}) for entry in data["cases"] if entry["name"] == case), {}) if case else {}
    overrides = own | {key.replace("__", "."): value for key, value in keys.items()}
    return from_data(data | {"cases": [{"name": "changed", "set": overrides}]}, "changed")
