"""What an FMU's archive holds besides its sources and binaries: documentation, pictures, licences, terminals."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...prepared import Prepared
from ...reference import poses
from ..compilers.binaries import Toolchain
from ..report.plots import Picture
from ..report.plots.gallery import drawn
from ..report.plots.schematic import start_pose
from .documentation import page
from .licences import licences
from .terminals import terminals

_CAPTION = (
    "Bodies as lines between their origins, at the start. Circles are joints, dots lie between rigid finite"
    " elements, triangles are supports, diamonds points."
)
_ICONS = {"2.0": "model.png", "3.0": "terminalsAndIcons/icon.png"}


def contents(model: Prepared, fmi: str, made_by: Sequence[Toolchain]) -> dict[str, str | bytes]:
    """Files by their paths in the archive, which the FMI version prescribes."""
    picture = _picture(model)
    images: dict[str, str | bytes] = {}
    if picture is not None:
        images = {_ICONS[fmi]: picture.png, "documentation/diagram.png": picture.png}
        images["documentation/diagram.svg"] = picture.svg
    return {
        "documentation/index.html": page(model, fmi, made_by, picture),
        f"resources/{model.name}.mo": model.modelica(),
        **licences(made_by),
        **images,
        **(terminals(model.mechanism) if fmi != "2.0" else {}),
    }


def _picture(model: Prepared) -> Picture | None:
    draw = partial(start_pose, model.mechanism, poses(model.mechanism, model.start[0]))
    return next(drawn([("diagram", "The mechanism", _CAPTION, draw)]), None)
