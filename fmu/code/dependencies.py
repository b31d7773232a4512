"""Structural dependencies of state derivatives, outputs, initial states and calculated parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .staged import Block, ConstrainedSystem, Stage, Staged, TreeSystem

Mask = NDArray[np.bool_]
# A Boolean dependency mask has columns for states, inputs, time and parameters, in this order.
_KNOWN = ("states", "inputs", "time", "parameters")


@dataclass(frozen=True)
class Dependencies:
    """Structural dependencies as Boolean masks with one row per unknown and one column per known quantity.

    The k known quantities are states, inputs, time and parameters. Each element of an array has a
    column of its own.

    Attributes
    ----------
    derivatives : shape (number of states, k)
        Dependencies of the state derivatives.
    outputs : shape (number of outputs, k)
        Dependencies of the outputs.
    start_states : shape (number of states, k)
        Dependencies of the initial states.
    calculated : shape (number of calculated parameters, k)
        Dependencies of the calculated parameters.
    """

    derivatives: Mask
    outputs: Mask
    start_states: Mask
    calculated: Mask

    def at_start(self, row: Mask) -> Mask:
        """Return the dependencies of a derivative or output at the initial time, shape (k,).

        The initial states are unknowns themselves. A dependency on a state is therefore replaced by the
        quantities on which the initial value of this state depends. The argument `row` is the Boolean mask
        of the dependencies during the run, shape (k,).
        """
        n = len(self.start_states)
        found = row | self.start_states[row[:n]].any(axis=0)
        found[:n] = False
        return found


def dependencies(staged: Staged) -> Dependencies:
    """Return the structural dependencies of a model, computed from sparsity patterns of its evaluation stages.

    The solution of a linear system is assumed to depend on everything that affects the matrix or the
    right-hand side.
    """
    blocks = [staged.blocks[name] for name in _KNOWN]
    known = np.zeros((staged.size, sum(block.size for block in blocks)), dtype=bool)
    known[np.concatenate([np.arange(staged.size)[_slice(block)] for block in blocks])] = np.eye(known.shape[1])
    for stage in staged.running:
        if stage.group not in ("prepare", "start"):
            # The truth value of a condition on time depends on event times, and event times depend on parameters.
            # A condition on time is constant between events, and therefore adds no dependency on time.
            times = staged.blocks["event_times"]
            known[_slice(Block(staged.blocks["switches"].offset, times.size))] = known[_slice(times)]
        _propagate(stage, known)
        # Initial values also depend on the parameters by which a user may set the initial state.
        if stage.name == "start states":
            known[_slice(staged.blocks["start_states"])] |= known[staged.given]
    wanted = ("derivatives", "outputs", "start_states", "calculated")
    return Dependencies(*(known[_slice(staged.blocks[name])] for name in wanted))


def _slice(block: Block) -> slice:
    return slice(block.offset, block.offset + block.size)


def _propagate(stage: Stage, known: Mask) -> None:
    for o, out in enumerate(stage.outputs):
        ways = np.zeros((out.size, known.shape[1]), dtype=np.int32)
        for i, block in enumerate(stage.inputs):
            rows, columns = stage.function.jac_sparsity(o, i).get_triplet()
            pattern = csr_array((np.ones(len(rows), np.int32), (rows, columns)), shape=(out.size, block.size))
            ways += pattern @ known[_slice(block)].astype(np.int32)
        known[_slice(out)] = ways > 0
    system = stage.system
    if isinstance(system, ConstrainedSystem):
        reached = _any(known, system.matrix, system.jacobian, system.right, system.wanted)
        known[_slice(system.solution)] = reached
        known[_slice(system.multipliers)] = reached
    elif isinstance(system, TreeSystem) and system.m:
        reached = _any(known, *system.left, system.right, system.wanted)
        known[_slice(system.right)] = reached
        known[_slice(system.wanted)] = reached
    elif system is not None:
        matrix = _any(known, *system.left)
        right = known[_slice(system.right)].reshape(system.columns, system.n, -1)
        right[:] = (right.any(axis=1, keepdims=True)) | matrix


def _any(known: Mask, *blocks: Block) -> Mask:
    found: Mask = np.any([known[_slice(block)].any(axis=0) for block in blocks], axis=0)
    return found
