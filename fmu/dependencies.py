"""Which states and inputs each derivative and output depends on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .stages import Block, ConstrainedSystem, Stage, Staged

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Dependencies:
    """Shapes (n_x, n_x + n_u) and (n_y, n_x + n_u); columns: states, then inputs."""

    derivatives: Mask
    outputs: Mask


def dependencies(staged: Staged) -> Dependencies:
    """Structural dependencies, by the sparsity of the stages; a solve mixes all that its system depends on."""
    states, inputs = staged.blocks["states"], staged.blocks["inputs"]
    known = np.zeros((staged.size, states.size + inputs.size), dtype=bool)
    known[_slice(states), : states.size] = np.eye(states.size, dtype=bool)
    known[_slice(inputs), states.size :] = np.eye(inputs.size, dtype=bool)
    for stage in staged.stages:
        _propagate(stage, known)
    return Dependencies(known[_slice(staged.blocks["derivatives"])], known[_slice(staged.blocks["outputs"])])


def _slice(block: Block) -> slice:
    return slice(block.offset, block.offset + block.size)


def _propagate(stage: Stage, known: Mask) -> None:
    for o, out in enumerate(stage.outputs):
        reached = np.zeros((out.size, known.shape[1]), dtype=bool)
        for i, block in enumerate(stage.inputs):
            sparsity = stage.function.jac_sparsity(o, i)
            rows, columns = sparsity.get_triplet()
            source = known[_slice(block)]
            np.logical_or.at(reached, np.array(rows, dtype=int), source[np.array(columns, dtype=int)])
        known[_slice(out)] = reached
    if isinstance(stage.system, ConstrainedSystem):
        system = stage.system
        parts = (system.matrix, system.jacobian, system.right, system.wanted)
        reached = np.any([known[_slice(block)].any(axis=0) for block in parts], axis=0)
        known[_slice(system.solution)] = reached
        if system.multipliers is not None:
            known[_slice(system.multipliers)] = reached
    elif stage.system is not None:
        matrix = known[_slice(stage.system.matrix)].any(axis=0)
        right = known[_slice(stage.system.right)].reshape(stage.system.columns, stage.system.n, -1)
        right[:] = (right.any(axis=1, keepdims=True)) | matrix
