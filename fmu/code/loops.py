"""Repetitions in a tape: the operations of one element of a beam, or one support, repeat those of the last.

Such lines become a loop, so that the length of the code, and the time to compile it, hardly grow with a machine.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_LINES = 150  # of a piece at most: what a compiler needs for a function grows faster than its length
_PERIOD = 400  # the longest body of a loop, likewise
_WORTH = 24  # lines that a loop has to save


class Piece(NamedTuple):
    """Operations from `start` on, in so many rounds of `period` operations each."""

    start: int
    period: int
    rounds: int

    @property
    def end(self) -> int:
        """The operation after the last one."""
        return self.start + self.period * self.rounds

    @property
    def saved(self) -> int:
        """Operations that do not have to be written."""
        return self.period * (self.rounds - 1)


def pieces(kinds: NDArray[np.int64]) -> list[Piece]:
    """All operations of a tape in their order, as loops and as short straight pieces.

    kinds  of the operations, shape (n,): those of one kind may be the same line of a loop
    """
    found = sorted(_loops(kinds))
    ends = [0, *(loop.end for loop in found)]
    begins = [*(loop.start for loop in found), len(kinds)]
    return sorted([*found, *(piece for gap in zip(ends, begins, strict=True) for piece in _straight(*gap))])


def _straight(start: int, end: int) -> list[Piece]:
    return [Piece(i, min(_LINES, end - i), 1) for i in range(start, end, _LINES)]


def _loops(kinds: NDArray[np.int64]) -> list[Piece]:
    """Without overlap; those that save most first, of which the shorter lines."""
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
    """For each period the longest stretches in which every line is of the kind of the one a period later.

    Those that are worth a loop.
    """
    found = []
    kinds = np.unique(kinds, return_inverse=True)[1].astype(np.min_scalar_type(len(kinds)))
    for period in range(1, min(_PERIOD, len(kinds) // 2) + 1):
        begins, ends = _stretches(kinds[:-period] == kinds[period:])
        least = -(-_WORTH // period) * period  # whole rounds
        for k in np.flatnonzero(ends - begins >= least):
            found.append(Piece(int(begins[k]), period, int(ends[k] - begins[k]) // period + 1))
    return found


def _stretches(holds: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Beginnings and ends of the stretches in which a condition holds."""
    padded = np.concatenate([[False], holds, [False]])
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    return edges[::2], edges[1::2]


def _free(loop: Piece, taken: NDArray[np.bool_]) -> list[Piece]:
    """Parts of a loop that no other loop has taken, if they are long enough for loops of their own."""
    begins, ends = _stretches(~taken[loop.start : loop.end])
    rests = (
        Piece(loop.start + int(begin), loop.period, int(end - begin) // loop.period)
        for begin, end in zip(begins, ends, strict=True)
    )
    return [rest for rest in rests if rest.saved >= _WORTH]
