"""Files in the archive of an FMU that are neither C source nor binary, such as its documentation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...analysis.system import System
from ...fmu.archive.licences import licences
from ...fmu.archive.terminals import terminals
from ...fmu.compilers.binaries import Toolchain
from ...scene import poses_of
from ..plots import Picture
from ..plots.gallery import drawn
from ..plots.schematic import pose
from .documentation import page

_CAPTION = (
    "Bodies at the initial state, as lines from their origins to their joints and points. Circles are joints, dots"
    " connect rigid finite elements, triangles are supports, diamonds are points."
)
_ICONS = {"2.0": "model.png", "3.0": "terminalsAndIcons/icon.png"}


def contents(model: System, fmi: str, made_by: Sequence[Toolchain]) -> dict[str, str | bytes]:
    """Return the documentation, pictures, licences, terminals and the Modelica source of a model.

    Parameters
    ----------
    model : System
        Model that the FMU was generated from.
    fmi : str
        Version of the standard, 2.0 or 3.0, which prescribes the paths.
    made_by : sequence of Toolchain
        Compilers of the binaries.

    Returns
    -------
    dict
        Contents of files by their paths in the archive.
    """
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


def _picture(model: System) -> Picture | None:
    draw = partial(pose, poses_of(model.mechanism, model.start[0][None]))
    return next(drawn([("diagram", "The mechanism", _CAPTION, draw)]), None)
