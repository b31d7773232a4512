"""The table of awkward machines by checks and reference alone.

`benchmarks/awkward_machines.py` builds and runs their FMUs, too.
"""

from __future__ import annotations

import pytest
from awkward_machines import MACHINES, Awkward
from awkward_machines.judge import by_reference

# told by the comparison of runs alone
_LATER = "does not hold"


@pytest.mark.campaign
@pytest.mark.slow
@pytest.mark.parametrize("machine", [m for m in MACHINES.values() if m.verdict != _LATER], ids=lambda m: m.name)
def test_awkward_machine(machine: Awkward) -> None:
    answer = by_reference(machine.make())
    assert not answer.faults(machine), answer.said


def test_the_table_is_long_enough() -> None:
    assert len(MACHINES) >= 97
    assert {"ok", "refused", "stops", "not consistent", "does not hold"} == {m.verdict for m in MACHINES.values()}
