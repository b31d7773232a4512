"""Root mean square of the joint forces over a run (Jarzębowska et al. 2023, equation (34))."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Trajectory, rms
from ...description.types.origin import joint_load
from ...mechanism import Mechanism
from .loads import loaded_links


@dataclass(frozen=True)
class LoadRms:
    """Root mean squares of the joint force along the joint axis and perpendicular to this axis, N."""

    axial: float
    normal: float


def load_rms(mechanism: Mechanism, run: Trajectory, settled: float) -> dict[str, LoadRms]:
    """Return the root mean square of each joint's force over a run.

    Only joints with exactly one coordinate are included.

    Parameters
    ----------
    mechanism
        Mechanism of the run.
    run
        Run with joint reactions among its signals.
    settled
        Start time of the evaluation, s; earlier samples belong to the transient of the constraint
        stabilisation. All samples are used if fewer than two samples are later.

    Returns
    -------
    dict
        Root mean squares by the name of the link that the joint moves.
    """
    counted = run.time >= settled
    if np.count_nonzero(counted) < 2:
        counted[:] = True
    names = {
        link: [joint_load(link, part).name for part in ("axial", "normal")]
        for link in loaded_links(mechanism, run)
    }
    return {
        link: LoadRms(*(rms(run.time[counted], run.signals[name][counted]) for name in pair))
        for link, pair in names.items()
        if run.signals.keys() >= set(pair)
    }
