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
from numpy.typing import NDArray

from .loops import Piece, pieces
from .staged import Labels
from .tape import COMPUTED, NOTHING, Integers, Tape

_PARAMETERS = {"arg": "const double **arg", "res": "double **res", "w": "double *restrict w"}


class LocalOperand(NamedTuple):
    """Operand that an earlier line of the same round computes."""

    line: int


class StridedOperand(NamedTuple):
    """Operand in memory: number of an argument and its elements by rounds, or COMPUTED and operations."""

    block: int
    elements: tuple[int, ...]


class Carried(NamedTuple):
    """Operand that a line of the last round computed, or in the first round an operation before the loop."""

    line: int
    first: StridedOperand


Operand: TypeAlias = LocalOperand | Carried | StridedOperand


@dataclass(frozen=True)
class Code:
    """C functions, the last of which calls the others, and the doubles that it wants in w."""

    text: str
    work: int


def code(tape: Tape, name: str, labels: Labels, title: str) -> Code:
    """C function `name` of a tape; labels: names of its arguments and results; title: its comment."""
    cut = pieces(_kinds(tape))
    operands = [_operands(tape, piece) for piece in cut]
    memory = _memory(tape, cut, operands, _Names(labels))
    parts = [_Text(tape, piece, own, memory) for piece, own in zip(cut, operands, strict=True)]
    bodies = [part.text() for part in parts]
    read = [[array for array in _PARAMETERS if array in part.arrays] for part in parts]
    texts = [
        f"static void {name}_{k}({', '.join(_PARAMETERS[array] for array in arrays)}) {{\n{body}}}\n\n"
        for k, (arrays, body) in enumerate(zip(read, bodies, strict=True))
    ]
    calls = [f"    {name}_{k}({', '.join(arrays)});\n" for k, arrays in enumerate(read)]
    unused = "".join(
        f"    (void){array};\n" for array in sorted(_PARAMETERS.keys() - set(chain.from_iterable(read)))
    )
    head = f"/* {title} */\nvoid {name}({', '.join(_PARAMETERS.values())}) {{\n"
    texts.append(f"{head}{unused}{''.join(calls)}}}\n")
    return Code("".join(texts), memory.size)


def _kinds(tape: Tape) -> Integers:
    """Equal for lines that a loop may have as one: of one operator, from and to the same blocks; shape (n,)."""
    written: dict[tuple[int, ...], int] = {(): 0}
    kinds = np.zeros_like(tape.codes)
    for operation, places in tape.results.items():
        kinds[operation] = written.setdefault(tuple(result for result, _ in places), len(written))
    for column in (*tape.blocks.T, tape.codes):
        kinds = kinds * (column.max(initial=0) + 1 - NOTHING) + column - NOTHING
    return kinds


def _operands(tape: Tape, piece: Piece) -> list[list[Operand]]:
    """Operands of each line of a piece."""
    blocks = tape.blocks[piece.start : piece.start + piece.period]
    elements = tape.elements[piece.start : piece.end].reshape(piece.rounds, piece.period, 2)
    lines = elements - piece.start - piece.period * np.arange(piece.rounds)[:, None, None]
    first, last = lines[0], lines[-1]
    steady = (blocks == COMPUTED) & (lines[1:] == last).all(axis=0)
    local = steady & (first == last) & (first >= 0)
    carried = steady & (first < 0) & (-piece.period <= last) & (last < 0) & (piece.rounds > 1)
    columns = elements.transpose(1, 2, 0)
    rows = zip(*(each.tolist() for each in (blocks, columns, local, carried, last % piece.period)), strict=True)
    return [[_operand(*each) for each in zip(*row, strict=True) if each[0] != NOTHING] for row in rows]


def _operand(block: int, elements: list[int], local: bool, carried: bool, line: int) -> Operand:
    if local:
        return LocalOperand(line)
    return (
        Carried(line, StridedOperand(block, (elements[0],))) if carried else StridedOperand(block, tuple(elements))
    )


class _Names:
    """Enumerators of the blocks of a function, and names of their elements."""

    def __init__(self, labels: Labels) -> None:
        self._labels = {"arg": labels.arguments, "res": labels.results}
        self._counts = Counter(label.name for label in (*labels.arguments, *labels.results))

    def enumerator(self, array: str, block: int) -> str:
        """Name of the index of a block among the arguments or results; several blocks may have one label."""
        name = self._labels[array][block].name
        return (name if self._counts[name] == 1 else f"{name}_{array}{block}").upper()

    def elements(self, array: str, block: int, indices: Sequence[int]) -> str:
        """Names of elements that the rounds of a line read or write, the first and the last one; may be empty."""
        names = self._labels[array][block].elements
        if not names:
            return ""
        first, last = names[indices[0]], names[indices[-1]]
        return first if first == last else f"{first} to {last}"


@dataclass
class _Memory:
    """Places of computed values that other pieces read: results, or cells of w by operations."""

    tape: Tape
    names: _Names
    cells: dict[int, int] = field(default_factory=dict)
    size: int = 0

    def __post_init__(self) -> None:
        self._results = {operation: dict(places) for operation, places in self.tape.results.items()}

    def result(self, values: StridedOperand) -> StridedOperand | None:
        """Places of values in one result, if there is one that has them all."""
        found = [self._results.get(operation, {}) for operation in values.elements]
        block = next(iter(found[0]), None)
        if block is None or any(block not in places for places in found):
            return None
        return StridedOperand(block, tuple(places[block] for places in found))

    def places(self, values: StridedOperand) -> tuple[str, int, Sequence[int]]:
        """Array, number of the block in it, and indices of values; `w` has no blocks."""
        if values.block != COMPUTED:
            return "arg", values.block, values.elements
        if (found := self.result(values)) is not None:
            return "res", found.block, found.elements
        return "w", 0, [self.cells[operation] for operation in values.elements]


def _memory(tape: Tape, cut: Sequence[Piece], operands: Sequence[list[list[Operand]]], names: _Names) -> _Memory:
    """A row of cells for each line that others read, which others have again after its last reader."""
    memory = _Memory(tape, names)
    last = _last_readers(memory, operands)
    busy = np.full(0, -1)  # by cells: the last piece that reads it
    for k, piece in enumerate(cut):
        readers = last[piece.start : piece.end].reshape(piece.rounds, piece.period).max(axis=0)
        lines = np.flatnonzero(readers >= 0)
        rooms = _rooms(busy < k, piece.rounds, len(lines))
        missing = rooms[-1] + piece.rounds - len(busy) if rooms else 0
        busy = np.concatenate([busy, np.full(max(missing, 0), -1)])
        for line, room in zip(lines.tolist(), rooms, strict=True):
            row = range(piece.start + line, piece.end, piece.period)
            busy[room : room + piece.rounds] = readers[line]
            memory.cells.update(zip(row, range(room, room + piece.rounds), strict=True))
    memory.size = len(busy)
    return memory


def _last_readers(memory: _Memory, operands: Sequence[list[list[Operand]]]) -> Integers:
    """Last piece that reads the value of each operation in w, shape (n,); −1: none."""
    last = np.full(len(memory.tape.codes), -1)
    for k, lines in enumerate(operands):
        for values in _read(operand for line in lines for operand in line):
            if values.block == COMPUTED and memory.result(values) is None:
                last[list(values.elements)] = k
    return last


def _read(operands: Iterable[Operand]) -> Iterable[StridedOperand]:
    """Yield the operands that are read from memory."""
    for operand in operands:
        if isinstance(operand, Carried):
            yield operand.first
        elif isinstance(operand, StridedOperand):
            yield operand


def _rooms(free: NDArray[np.bool_], count: int, wanted: int) -> list[int]:
    """The first places that have `count` free cells in a row each; those beyond the last one are free."""
    sums = np.concatenate([[0], np.cumsum(np.concatenate([free, np.ones(count * wanted, dtype=bool)]))])
    places = iter(np.flatnonzero(sums[count:] - sums[:-count] == count).tolist())
    found: list[int] = []
    while len(found) < wanted:
        end = found[-1] + count if found else 0
        found.append(next(place for place in places if place >= end))
    return found


class _Text:
    """C of one piece."""

    def __init__(self, tape: Tape, piece: Piece, operands: list[list[Operand]], memory: _Memory) -> None:
        self._tape, self._piece, self._operands, self._memory = tape, piece, operands, memory
        self._columns: dict[tuple[int, ...], int] = {}  # of the table, by indices
        self._uses = Counter(operand for line in operands for operand in line)
        self._named: dict[StridedOperand, str] = {}  # what has been read in this round and is used again
        self._carried: dict[Carried, str] = {}
        self.arrays: set[str] = set()  # parameters that the body uses, and enumerators of their blocks
        self._blocks: dict[str, int] = {}
        self._lines: list[str] = []

    def text(self) -> str:
        """Return the C code of the function's body."""
        for line in range(self._piece.period):
            self._line(line)
        if self._piece.rounds == 1:
            return "".join([self._enumerators(), *self._lines])
        before = [f"    double {name} = {self._first(c)};\n" for c, name in self._carried.items()]
        after = [f"    {name} = a{c.line};\n" for c, name in self._carried.items()]
        loop = f"    for (int i = 0; i < {self._piece.rounds}; i++) {{\n"
        return "".join([self._enumerators(), self._table(), *before, loop, *self._lines, *after, "    }\n"])

    def _line(self, line: int) -> None:
        tape, first = self._tape, self._piece.start + line
        operands = [self._operand(operand) for operand in self._operands[line]]
        value = tape.operators[tape.codes[first]].format(*(text for text, _ in operands))
        self._lines.append(f"    double a{line} = {value};{_comment(about for _, about in operands)}\n")
        row = range(first, self._piece.end, self._piece.period)
        wanted = [tape.results[k] for k in row] if first in tape.results else []
        for places in zip(*wanted, strict=True):
            self._write("res", places[0][0], [element for _, element in places], line)
        if first in self._memory.cells:
            self._write("w", 0, [self._memory.cells[k] for k in row], line)

    def _operand(self, operand: Operand) -> tuple[str, str]:
        """C of an operand, and names of what it reads where it stands."""
        if isinstance(operand, LocalOperand):
            return f"a{operand.line}", ""
        if isinstance(operand, Carried):
            return self._carried.setdefault(operand, f"c{len(self._carried)}"), ""
        if operand not in self._named:
            array, block, indices = self._memory.places(operand)
            number, about = self._element(array, block, indices), self._about(array, block, indices)
            if self._uses[operand] == 1:
                return number, about
            name = self._named[operand] = f"b{len(self._named)}"
            self._lines.append(f"    double {name} = {number};{_comment([about])}\n")
        return self._named[operand], ""

    def _write(self, array: str, block: int, indices: Sequence[int], line: int) -> None:
        about = _comment([self._about(array, block, indices)])
        self._lines.append(f"    {self._element(array, block, indices)} = a{line};{about}\n")

    def _first(self, carried: Carried) -> str:
        return self._element(*self._memory.places(carried.first))

    def _element(self, array: str, block: int, indices: Sequence[int]) -> str:
        """C of an element of a block, by the index of its rounds."""
        self.arrays.add(array)
        if array == "w":
            return f"w[{self._index(indices)}]"
        name = self._memory.names.enumerator(array, block)
        self._blocks[name] = block
        return f"{array}[{name}][{self._index(indices)}]"

    def _about(self, array: str, block: int, indices: Sequence[int]) -> str:
        return "" if array == "w" else self._memory.names.elements(array, block, indices)

    def _enumerators(self) -> str:
        """C of the indices of blocks, by their names."""
        if not self._blocks:
            return ""
        return f"    enum {{ {', '.join(f'{name} = {block}' for name, block in self._blocks.items())} }};\n"

    def _index(self, indices: Sequence[int]) -> str:
        """C of indices by rounds."""
        steps = {b - a for a, b in pairwise(indices)} or {0}
        if len(steps) > 1:
            return f"at[i][{self._columns.setdefault(tuple(indices), len(self._columns))}]"
        step = steps.pop()
        return str(indices[0]) if step == 0 else f"{indices[0]} + i" if step == 1 else f"{indices[0]} + {step}*i"

    def _table(self) -> str:
        """C table of indices that are not affine in the round."""
        if not self._columns:
            return ""
        rows = (", ".join(map(str, row)) for row in zip(*self._columns, strict=True))
        return f"    static const int at[][{len(self._columns)}] = {{{{{'}, {'.join(rows)}}}}};\n"


def _comment(parts: Iterable[str]) -> str:
    found = [part for part in parts if part]
    return f" /* {', '.join(found)} */" if found else ""
