"""Functions that write films of a mechanism's motion as GIF files. With ffmpeg, they also write MP4 files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter

from ...core.errors import MissingToolError
from ...core.progress import Progress
from ...scene import Scene
from .solids import draw, stage
from .style import styled

_RATE, _LONGEST = 20, 12.0  # Number of pictures per second, and maximum length of a film, s.
_DPI = 80


def write_film(path: Path, scene: Scene, seconds: float, progress: Progress) -> Path:
    """Write a film of the scene's first run with 20 pictures per second.

    Parameters
    ----------
    path
        File that ends in `.gif` or `.mp4`.
    scene
        Mechanism and its motion.
    seconds
        Length of the film, s; at most 12 s.
    progress
        Function that is called with the current activity and the completed fraction.

    Raises
    ------
    MissingToolError
        If an mp4 is requested without ffmpeg.
    """
    writer = _writer(path.suffix)
    last = len(scene.time) - 1 - scene.cyclic  # The last frame of a cycle equals the first one.
    count = max(min(round(_RATE * min(seconds, _LONGEST)) + 1, last + 1), 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.stem}.part{path.suffix}")
    with styled():
        figure, axes = stage(scene, 5.0)
        clock = figure.text(0.02, 0.02, "")
        try:
            with writer.saving(figure, str(unfinished), _DPI):
                for done, k in enumerate(np.linspace(0, last, count).round().astype(int), start=1):
                    drawn = draw(axes, scene, int(k))
                    clock.set_text(_clock(scene, float(scene.time[k])))
                    writer.grab_frame()
                    for artist in drawn:
                        artist.remove()
                    progress("drawing the film", done / count)
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)
    return path


def _clock(scene: Scene, time: float) -> str:
    return f"{scene.motions[0].name}: {360 * time:.0f}°" if scene.cyclic else f"t = {time:.3f} s"


def _writer(ending: str) -> AbstractMovieWriter:
    if ending == ".gif":
        return PillowWriter(fps=_RATE)
    if shutil.which(matplotlib.rcParams["animation.ffmpeg_path"]) is None:
        try:
            from imageio_ffmpeg import get_ffmpeg_exe

            matplotlib.rcParams["animation.ffmpeg_path"] = get_ffmpeg_exe()
        except (ImportError, RuntimeError):
            raise MissingToolError(
                "an mp4 needs ffmpeg: install ffmpeg, or pip install imageio-ffmpeg; or choose --gif or --html"
            ) from None
    # MP4 requires an even number of pixels in each direction.
    return FFMpegWriter(fps=_RATE, extra_args=["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"])
