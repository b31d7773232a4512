"""Parts of an HTML page with a player: canvas, controls, scene and scripts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from markupsafe import Markup

from ...core.scripts import json_script, policy_hash
from ...core.templates import fill
from ...scene import Scene
from .payload import payload
from .three import three

CYCLES = (0.1, 0.25, 0.5, 1.0, 2.0)  # Selectable speeds of a periodic motion, cycles per second.
SPEEDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
# CSS class and label of the check box that shows or hides each kind of symbol.
_SYMBOLS = {
    "frames": "frames",
    "axes": "joint axes",
    "points": "points",
    "masses": "centres of mass",
    "lines": "lines",
    "planes": "planes",
}
_SHOWN_AT_FIRST = ("axes", "points", "lines", "planes")
# Template values for a film without controls, such as play buttons and check boxes.
_NO_CONTENT: dict[str, object] = {
    "last": 0,
    "links": [],
    "cyclic": False,
    "speeds": [],
    "speed": 1.0,
    "scales": [],
    "runs": [],
    "ghost": "",
    "forces": False,
    "paths": False,
    "symbols": [],
}
_SHORTEST, _LONGEST = 4.0, 30.0  # Range of acceptable playing times at the default speed, s.


@dataclass(frozen=True)
class Player:
    """Parts of an HTML page with a player.

    Attributes
    ----------
    markup
        Canvas and controls.
    scripts
        Scene as JSON, and the JavaScript that shows the scene.
    policy
        Hashes of the scripts for the page's content security policy.
    """

    markup: Markup
    scripts: Markup
    policy: str


def player_of(scene: Scene) -> Player:
    """Return the HTML player that shows a scene.

    MissingToolError is raised if three.js is not installed.
    """
    return _player(_content(scene), [json_script("scene", payload(scene))], [])


def player_without_scene(script: str) -> Player:
    """Return a player without a scene, for a page that receives scenes from a server.

    The argument `script` is JavaScript that creates the player when the page receives a scene. The
    player also shows the symbols of `scene.aids_of`. MissingToolError is raised if three.js is not
    installed.
    """
    symbols = [(name, text, name in _SHOWN_AT_FIRST) for name, text in _SYMBOLS.items()]
    return _player(_NO_CONTENT | {"forces": True, "runs": [(0, "")], "symbols": symbols}, [], [script])


def _player(content: Mapping[str, object], data: list[Markup], scripts: list[str]) -> Player:
    sources = [three(), files(__package__).joinpath("player.js").read_text(encoding="utf-8"), *scripts]
    return Player(
        Markup(fill("report/player/player.html.jinja", content)),
        Markup("\n").join([*data, *(Markup(f"<script>{source}</script>") for source in sources)]),
        " ".join(map(policy_hash, sources)),
    )


def seconds_of(scene: Scene) -> float:
    """Return the playing time of a scene at its default speed, s."""
    length = float(scene.time[-1] - scene.time[0])
    return length / _speed(length, scene.cyclic)


def _content(scene: Scene) -> dict[str, object]:
    length = float(scene.time[-1] - scene.time[0])
    *runs, truth = [motion.name for motion in scene.motions]
    return _NO_CONTENT | {
        "last": len(scene.time) - 1,
        "links": legend(scene),
        "cyclic": scene.cyclic,
        "speeds": [(s, f"{s:g} cycles/s") for s in CYCLES] if scene.cyclic else [(s, f"{s:g}×") for s in SPEEDS],
        "speed": _speed(length, scene.cyclic),
        "scales": [(k, f"{scale:g}×") for k, scale in enumerate(scene.scales)],
        "runs": list(enumerate(runs or [truth])),
        "ghost": truth if runs else "",
        "forces": bool(scene.marks) and not scene.cyclic,
        "paths": bool(scene.mechanism.points),
    }


def legend(scene: Scene) -> list[tuple[str, str]]:
    """Return pairs of the name and the colour of each visible link."""
    bodies = scene.mechanism.bodies
    colours = {bodies[shape.body].link: shape.colour for shape in reversed(scene.shapes)}
    return [(link, colours[link]) for link in dict.fromkeys(body.link for body in bodies) if link in colours]


def _speed(length: float, cyclic: bool) -> float:
    """Return the default playing speed: the speed closest to real time with an acceptable playing time."""
    if cyclic:
        return CYCLES[2]
    fitting = [speed for speed in SPEEDS if _SHORTEST <= length / speed <= _LONGEST]
    return min(fitting or [SPEEDS[0 if length < 1.0 else -1]], key=lambda speed: abs(np.log(speed)))
