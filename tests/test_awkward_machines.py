"""The table of awkward machines by checks and reference alone.

`benchmarks/awkward_machines.py` builds and runs their FMUs, too.
"""

from __future__ import annotations

import pytest
from awkward_machines import MACHINES, Awkward
from awkward_machines.judge import by_reference

# told by the comparison of runs alone
_LATER = "does not hold"


def _marked(machine: Awkward) -> object:
    amiss = pytest.mark.xfail(strict=True, reason="not judged so yet")
    return pytest.param(machine, marks=[] if machine.mended else [amiss], id=machine.name)


@pytest.mark.parametrize("machine", [_marked(m) for m in MACHINES.values() if m.verdict != _LATER])
def test_awkward_machine(machine: Awkward) -> None:
    answer = by_reference(machine.make())
    assert not answer.faults(machine), answer.said


def test_the_table_is_long_enough() -> None:
    assert len(MACHINES) >= 60
    assert {"ok", "refused", "stops", "not consistent", "does not hold"} == {m.verdict for m in MACHINES.values()}
