"""C of a tape, with loops for what repeats itself in it: a chain of short functions.

In a loop an operand is what an earlier line of the same round gives, what a line of the round before gives, or a
number in memory, whose index grows by the same with each round, or is in a table. What other pieces or later
rounds read is kept in an array w, unless it is a result. The operations are those of the tape, in their order: so
are the bits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from .loops import Piece, pieces
from .tape import COMPUTED, Tape, Value

_PARAMETERS = {"arg": "const double **arg", "res": "double **res", "w": "double *restrict w"}


class Local(NamedTuple):
    """What an earlier line of the same round gives."""

    line: int


class Carried(NamedTuple):
    """What a line of the round before gives; in the first one, a number in memory."""

    line: int
    first: Value


Numbers: TypeAlias = tuple[Value, ...]  # in memory, by rounds
Operand: TypeAlias = Local | Carried | Numbers


@dataclass(frozen=True)
class Code:
    """C functions, the last of which calls the others, and the doubles that it wants in w."""

    text: str
    work: int


def code(tape: Tape, name: str) -> Code:
    """C function `name` of a tape."""
    cut = pieces([_kind(tape, k) for k in range(len(tape.operators))])
    operands = [_operands(tape, piece) for piece in cut]
    memory = _memory(tape, cut, operands)
    bodies = [_Text(tape, piece, own, memory).text() for piece, own in zip(cut, operands, strict=True)]
    read = [[array for array in _PARAMETERS if f"{array}[" in body] for body in bodies]
    texts = [
        f"static void {name}_{k}({', '.join(_PARAMETERS[array] for array in arrays)}) {{\n{body}}}\n\n"
        for k, (arrays, body) in enumerate(zip(read, bodies, strict=True))
    ]
    calls = [f"    {name}_{k}({', '.join(arrays)});\n" for k, arrays in enumerate(read)]
    unused = "".join(
        f"    (void){array};\n" for array in sorted(_PARAMETERS.keys() - set(chain.from_iterable(read)))
    )
    texts.append(f"void {name}({', '.join(_PARAMETERS.values())}) {{\n{unused}{''.join(calls)}}}\n")
    return Code("".join(texts), memory.size)


def _kind(tape: Tape, k: int) -> tuple[object, ...]:
    """What lines of a loop have in common: operator, and what blocks they read and write."""
    own = (tape.operators[k], *[block for block, _ in tape.operands[k]])
    return (*own, "", *[block for block, _ in tape.results[k]]) if tape.results[k] else own


def _operands(tape: Tape, piece: Piece) -> list[list[Operand]]:
    """Of each line of a piece."""
    rounds = [tape.operands[k : piece.end : piece.period] for k in range(piece.start, piece.start + piece.period)]
    return [[_operand(piece, values) for values in zip(*line, strict=True)] for line in rounds]


def _operand(piece: Piece, values: Numbers) -> Operand:
    block, first = values[0]
    if block != COMPUTED:
        return values
    lines = [operation - piece.start - i * piece.period for i, (_, operation) in enumerate(values)]
    if lines[0] >= 0 and len(set(lines)) == 1:
        return Local(lines[0])
    if len(set(lines[1:])) == 1 and -piece.period <= lines[1] < 0 and first < piece.start:
        return Carried(lines[1] + piece.period, values[0])
    return values


@dataclass
class _Memory:
    """Where what is computed is found by others: cells of w, by operations; results are found where they are."""

    tape: Tape
    cells: dict[int, int] = field(default_factory=dict)
    size: int = 0

    def result(self, values: Numbers) -> Numbers | None:
        """Places of values in one result, if there is one that has them all."""
        found = [dict(self.tape.results[operation]) for _, operation in values]
        block = next(iter(found[0]), None)
        if block is None or any(block not in places for places in found):
            return None
        return tuple((block, places[block]) for places in found)

    def places(self, values: Numbers) -> tuple[str, list[int]]:
        """Array and indices of values."""
        block, _ = values[0]
        if block != COMPUTED:
            return f"arg[{block}]", [element for _, element in values]
        if (found := self.result(values)) is not None:
            return f"res[{found[0][0]}]", [element for _, element in found]
        return "w", [self.cells[operation] for _, operation in values]


def _memory(tape: Tape, cut: Sequence[Piece], operands: Sequence[list[list[Operand]]]) -> _Memory:
    """A row of cells for each line that others read, which others have again after its last reader."""
    memory = _Memory(tape)
    last = _last_readers(memory, operands)
    busy = np.full(0, -1)  # by cells: the last piece that reads it
    for k, piece in enumerate(cut):
        for first in range(piece.start, piece.start + piece.period):
            row = range(first, piece.end, piece.period)
            until = max([last.get(operation, -1) for operation in row])
            if until < 0:
                continue
            cell = _room(busy < k, piece.rounds)
            if cell + piece.rounds > len(busy):
                busy = np.concatenate([busy, np.full(cell + piece.rounds - len(busy), -1)])
            busy[cell : cell + piece.rounds] = until
            memory.cells.update(zip(row, range(cell, cell + piece.rounds), strict=True))
    memory.size = len(busy)
    return memory


def _last_readers(memory: _Memory, operands: Sequence[list[list[Operand]]]) -> dict[int, int]:
    """By operations that have to be in w: the last piece that reads what they give."""
    last: dict[int, int] = {}
    for k, lines in enumerate(operands):
        for values in _read(operand for line in lines for operand in line):
            if values[0][0] == COMPUTED and memory.result(values) is None:
                last.update((operation, k) for _, operation in values)
    return last


def _read(operands: Iterable[Operand]) -> Iterable[Numbers]:
    """What is read from memory."""
    for operand in operands:
        if isinstance(operand, Carried):
            yield (operand.first,)
        elif not isinstance(operand, Local):
            yield operand


def _room(free: np.ndarray[tuple[int], np.dtype[np.bool_]], count: int) -> int:
    """The first of `count` free cells in a row; those beyond the last one are free."""
    padded = np.concatenate([free, np.ones(count, dtype=bool)])
    ends = np.cumsum(padded)
    filled = ends[count - 1 :] - ends[: len(ends) - count + 1] + padded[: len(padded) - count + 1]
    return int(np.argmax(filled == count))


class _Text:
    """C of one piece."""

    def __init__(self, tape: Tape, piece: Piece, operands: list[list[Operand]], memory: _Memory) -> None:
        self._tape, self._piece, self._operands, self._memory = tape, piece, operands, memory
        self._columns: dict[tuple[int, ...], int] = {}  # of the table, by indices
        self._uses = Counter(operand for line in operands for operand in line)
        self._named: dict[Numbers, str] = {}  # what has been read in this round and is used again
        self._carried: dict[Carried, str] = {}
        self._lines: list[str] = []

    def text(self) -> str:
        """Of the function's body."""
        for line in range(self._piece.period):
            self._line(line)
        if self._piece.rounds == 1:
            return "".join(self._lines)
        before = [f"    double {name} = {self._first(c)};\n" for c, name in self._carried.items()]
        after = [f"    {name} = a{c.line};\n" for c, name in self._carried.items()]
        loop = f"    for (int i = 0; i < {self._piece.rounds}; i++) {{\n"
        return "".join([self._table(), *before, loop, *self._lines, *after, "    }\n"])

    def _line(self, line: int) -> None:
        tape, first = self._tape, self._piece.start + line
        operands = [self._operand(operand) for operand in self._operands[line]]
        self._lines.append(f"    double a{line} = {tape.operators[first].format(*operands)};\n")
        row = range(first, self._piece.end, self._piece.period)
        for places in zip(*(tape.results[k] for k in row), strict=True):
            self._write(f"res[{places[0][0]}]", [element for _, element in places], line)
        if first in self._memory.cells:
            self._write("w", [self._memory.cells[k] for k in row], line)

    def _operand(self, operand: Operand) -> str:
        if isinstance(operand, Local):
            return f"a{operand.line}"
        if isinstance(operand, Carried):
            return self._carried.setdefault(operand, f"c{len(self._carried)}")
        if operand not in self._named:
            array, indices = self._memory.places(operand)
            number = f"{array}[{self._index(indices)}]"
            if self._uses[operand] == 1:
                return number
            name = self._named[operand] = f"b{len(self._named)}"
            self._lines.append(f"    double {name} = {number};\n")
        return self._named[operand]

    def _write(self, array: str, indices: list[int], line: int) -> None:
        self._lines.append(f"    {array}[{self._index(indices)}] = a{line};\n")

    def _first(self, carried: Carried) -> str:
        array, (index,) = self._memory.places((carried.first,))
        return f"{array}[{index}]"

    def _index(self, indices: Sequence[int]) -> str:
        """C of indices by rounds."""
        steps = {b - a for a, b in pairwise(indices)} or {0}
        if len(steps) > 1:
            return f"at[i][{self._columns.setdefault(tuple(indices), len(self._columns))}]"
        step = steps.pop()
        return str(indices[0]) if step == 0 else f"{indices[0]} + i" if step == 1 else f"{indices[0]} + {step}*i"

    def _table(self) -> str:
        """Of the indices that are no multiples of the round's."""
        if not self._columns:
            return ""
        rows = (", ".join(map(str, row)) for row in zip(*self._columns, strict=True))
        return f"    static const int at[][{len(self._columns)}] = {{{{{'}, {'.join(rows)}}}}};\n"
