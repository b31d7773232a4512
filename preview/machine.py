"""Mechanism of a description, with its initial state or the reason why no initial state was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .. import analysis
from ..core.errors import DescriptionError, SolveError
from ..core.trajectory import Array
from ..description import Description
from ..mechanism import Mechanism, build


@dataclass(frozen=True)
class PreviewMachine:
    """Mechanism with numerical values, and the initial state for the preview.

    Attributes
    ----------
    mechanism : Mechanism
        Bodies, closures and force elements.
    start : tuple of ndarray, shape (n,) each
        Initial coordinates, rad or m, and rates, rad/s or m/s. If no initial state was found, they
        are the values in the description.
    obstacle : str
        Reason why no initial state was found; otherwise empty.
    """

    mechanism: Mechanism
    start: tuple[Array, Array]
    obstacle: str = ""

    def model(self, inputs: Mapping[str, float]) -> analysis.ReferenceModel:
        """Return the equations with constant values for the FMU inputs."""
        return analysis.ReferenceModel(self.mechanism, start=self.start, inputs=dict(inputs))


def machine_of(chain: Description) -> PreviewMachine:
    """Build the mechanism of a validated description and search for its initial state.

    Raises DescriptionError if a frame or point lies too far away to be drawn.
    """
    mechanism = build(chain)
    too_far = analysis.far_places(mechanism)
    if too_far:
        raise DescriptionError("description", too_far)
    try:
        q, qd = analysis.start_state(analysis.ReferenceModel(mechanism))
        return PreviewMachine(mechanism, (np.asarray(q), np.asarray(qd)))
    except SolveError as error:
        return PreviewMachine(mechanism, analysis.described_state(mechanism), str(error))
