"""All remarks about a description, and about one run of it."""

from __future__ import annotations

from collections.abc import Iterable

from ..prepared import Prepared
from ..trajectory import Trajectory
from .initial_position import initial_positions
from .remark import Remark, ordered
from .unresolved_functions import unresolved_functions


def of_description(model: Prepared) -> tuple[Remark, ...]:
    """Remarks that need no run: on the description and its initial state.

    Parameters:
        model  prepared description

    Returns:
        remarks, the most urgent kind first
    """
    return ordered([*initial_positions(model), *unresolved_functions(model)])


def of_run(model: Prepared, run: Trajectory, further: Iterable[Remark] = ()) -> tuple[Remark, ...]:
    """Remarks on the description, its initial state and the motion.

    Parameters:
        model    prepared description
        run      reference run, with signals and events
        further  remarks that the caller has found

    Returns:
        remarks, the most urgent kind first
    """
    del run
    return ordered([*of_description(model), *further])
