"""Search for repeated sequences in a tape of operations, such as the equations of equal beam elements.

Repeated sequences become loops in the generated C code. The code of a beam with more elements is
therefore hardly longer, and its compile time hardly grows.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_LINES = 150  # A C function has at most this many lines, because long functions compile disproportionately slowly.
_PERIOD = 400  # The body of a generated C loop contains at most this many operations.
_WORTH = 24  # The code generator creates a C loop only if the loop saves at least this many lines of code.


class Piece(NamedTuple):
    """Section of a tape of operations; a repetitive section is executed as a loop.

    The section begins at the operation with the index `start`. It consists of `rounds` repetitions of
    `period` operations.
    """

    start: int
    period: int
    rounds: int

    @property
    def end(self) -> int:
        """Index one past the last operation of this section of the tape."""
        return self.start + self.period * self.rounds

    @property
    def saved(self) -> int:
        """Number of lines of C code that a loop saves, compared with the same operations without a loop."""
        return self.period * (self.rounds - 1)


def pieces(kinds: NDArray[np.int64]) -> list[Piece]:
    """Divide the operations of a tape into loops and short sequences without loops.

    The loops and sequences are returned in order of execution.

    Parameters
    ----------
    kinds : ndarray, shape (n,)
        Integer for each operation. Two operations with equal integers can be executed by the same
        line of a loop.
    """
    found = sorted(_loops(kinds))
    ends = [0, *(loop.end for loop in found)]
    begins = [*(loop.start for loop in found), len(kinds)]
    return sorted([*found, *(piece for gap in zip(ends, begins, strict=True) for piece in _straight(*gap))])


def _straight(start: int, end: int) -> list[Piece]:
    return [Piece(i, min(_LINES, end - i), 1) for i in range(start, end, _LINES)]


def _loops(kinds: NDArray[np.int64]) -> list[Piece]:
    """Return non-overlapping loops of a sequence of operations.

    If two loops overlap, the loop that saves more operations takes precedence. If both save equally
    many, the loop with the shorter period takes precedence.
    """
    heap = [_ranked(loop) for loop in _repetitions(kinds)]
    heapify(heap)
    taken, chosen = np.zeros(len(kinds), dtype=bool), []
    while heap:
        loop = heappop(heap)[-1]
        if not taken[loop.start : loop.end].any():
            taken[loop.start : loop.end] = True
            chosen.append(loop)
        else:
            for rest in _free(loop, taken):
                heappush(heap, _ranked(rest))
    return chosen


def _ranked(loop: Piece) -> tuple[int, int, Piece]:
    return -loop.saved, loop.period, loop


def _repetitions(kinds: NDArray[np.int64]) -> list[Piece]:
    """Return all repeated sequences of operations that are long enough for a loop.

    A sequence with the period p is a range of operations in which each operation i is of the same kind
    as operation i + p. The range is as long as possible.
    """
    found = []
    kinds = np.unique(kinds, return_inverse=True)[1].astype(np.min_scalar_type(len(kinds)))
    for period in range(1, min(_PERIOD, len(kinds) // 2) + 1):
        begins, ends = _stretches(kinds[:-period] == kinds[period:])
        shortest = -(-_WORTH // period) * period
        for k in np.flatnonzero(ends - begins >= shortest):
            found.append(Piece(int(begins[k]), period, int(ends[k] - begins[k]) // period + 1))
    return found


def _stretches(holds: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the begin and end indices of all runs of consecutive true values in a Boolean array.

    An end index is one past the last true value of its run.
    """
    padded = np.concatenate([[False], holds, [False]])
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    return edges[::2], edges[1::2]


def _free(loop: Piece, taken: NDArray[np.bool_]) -> list[Piece]:
    """Return the parts of a loop that lie outside of all loops chosen earlier.

    Parts that would save too few lines of code are omitted.
    """
    begins, ends = _stretches(~taken[loop.start : loop.end])
    rests = (
        Piece(loop.start + int(begin), loop.period, int(end - begin) // loop.period)
        for begin, end in zip(begins, ends, strict=True)
    )
    return [rest for rest in rests if rest.saved >= _WORTH]
