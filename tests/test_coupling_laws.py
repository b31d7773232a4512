"""Laws between coupled parts that claim more than they can do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_coupling import error, two_masses_and_law, two_masses_exact
from helpers_coupling_parts import LinearPart

from gpmelica.coupling.system import CoupledSystem
from gpmelica.coupling.verdict import Options, couple


class _DeafLaw(LinearPart):
    """A law that holds its inputs, although it claims to interpolate them, as Reference-FMUs of FMI 3.0 do."""

    def advance(self, t: float, h: float, courses: Any) -> tuple[float, bool]:
        return super().advance(t, h, courses * np.array([1.0, 0.0, 0.0, 0.0]))


@pytest.mark.slow
def test_law_that_ignores_slopes() -> None:
    """The law gets its inputs at the end of each step, without the delay of a step."""
    network = two_masses_and_law()
    network.parts[2].__class__ = _DeafLaw
    run = couple(CoupledSystem("masses", network, stop=0.5), Options(step=0.005))
    [remark] = [remark for remark in run.remarks if remark.id == "ignores_slopes"]
    assert remark.text.endswith("ignores their slopes; it gets their values at the end of each step")
    assert error(run.signals["A.x"], two_masses_exact(run.time)) < 1e-3
