"""Root mean square of what the joints of a case bear (Jarzębowska et al. 2023, equation (34))."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.trajectory import rms
from ...description.types.origin import joint_load
from ..plots.loads import loaded_links
from .outcome import CaseRun


@dataclass(frozen=True)
class LoadRms:
    """Root mean squares of the forces along and across a joint's axis, N."""

    axial: float
    normal: float


def load_rms(run: CaseRun) -> dict[str, LoadRms]:
    """Link → RMS over the run of its joint's force, from when the start's jerk has died out (`CaseRun.settled`).

    That jerk, of the stabilisation's fast root, is much shorter than an output step. For joints of one coordinate.
    """
    signals, time = run.reference.signals, run.reference.time
    kept = time >= run.settled
    if np.count_nonzero(kept) < 2:
        kept[:] = True
    names = {
        link: [joint_load(link, part).name for part in ("axial", "normal")]
        for link in loaded_links(run.mechanism, run.reference)
    }
    return {
        link: LoadRms(*(rms(time[kept], signals[name][kept]) for name in pair))
        for link, pair in names.items()
        if signals.keys() >= set(pair)
    }
