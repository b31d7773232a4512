"""Convert a tape of operations to C code, with loops for repeated sequences.

A loop is found wherever a sequence of operations repeats. An operand in a loop is one of these:

- the result of an earlier line of the same iteration,
- the result of a line of the previous iteration,
- a number in memory whose index is affine in the iteration, or is read from an index table.

Some values are read by other functions or in later iterations. Such a value is stored in an array
`w`, unless it is a result of the function. The C code executes the operations of the tape in their
order. All results therefore agree bit by bit with the tape.
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
    """Operand in a generated C loop: the result of an earlier line in the same iteration."""

    line: int


class StridedOperand(NamedTuple):
    """Operand that is read from memory, with its location for each loop iteration.

    `block` is the index of the function argument that contains the operand, or COMPUTED for the result
    of an operation. `elements` contains one index per iteration: the index of the operand in the
    argument, or the index of the operation that computes the operand.
    """

    block: int
    elements: tuple[int, ...]


class Carried(NamedTuple):
    """Operand in a generated C loop: the result of a line in the previous iteration.

    In the first iteration, the operand is `first`, the result of an operation before the loop.
    """

    line: int
    first: StridedOperand


Operand: TypeAlias = LocalOperand | Carried | StridedOperand


@dataclass(frozen=True)
class Code:
    """Generated C source of a function, preceded by its helper functions.

    `work` is the number of doubles of scratch memory that the function needs in the array `w`.
    """

    text: str
    work: int


def code(tape: Tape, name: str, labels: Labels, title: str) -> Code:
    """Return the C function that executes the operations of a tape.

    Parameters
    ----------
    tape : Tape
        Operations of the function.
    name : str
        Name of the C function.
    labels : Labels
        Names of the arguments and results, for enumerators and comments.
    title : str
        Comment above the function.
    """
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
    """Return an integer for each operation, shape (n,).

    Operations have equal integers if one line of a loop can execute them. Such operations have the
    same operator, read from the same sources and write to the same results.
    """
    written: dict[tuple[int, ...], int] = {(): 0}
    kinds = np.zeros_like(tape.codes)
    for operation, places in tape.results.items():
        kinds[operation] = written.setdefault(tuple(result for result, _ in places), len(written))
    for column in (*tape.blocks.T, tape.codes):
        kinds = kinds * (column.max(initial=0) + 1 - NOTHING) + column - NOTHING
    return kinds


def _operands(tape: Tape, piece: Piece) -> list[list[Operand]]:
    """Return the operands of each operation in a section of the tape.

    For a loop, the operands of one iteration are returned.
    """
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
    """Names in a C function: an enum constant for each argument and result, and a name for each array element."""

    def __init__(self, labels: Labels) -> None:
        self._labels = {"arg": labels.arguments, "res": labels.results}
        self._counts = Counter(label.name for label in (*labels.arguments, *labels.results))

    def enumerator(self, array: str, block: int) -> str:
        """Return the C enumerator of the index of an argument or result.

        The enumerator is unique even if several arguments or results have the same label.
        """
        name = self._labels[array][block].name
        return (name if self._counts[name] == 1 else f"{name}_{array}{block}").upper()

    def elements(self, array: str, block: int, indices: Sequence[int]) -> str:
        """Return the names of the first and last array element that a statement of a loop accesses.

        The text appears in a comment of the generated C code. It is empty if the elements have no names.
        """
        names = self._labels[array][block].elements
        if not names:
            return ""
        first, last = names[indices[0]], names[indices[-1]]
        return first if first == last else f"{first} to {last}"


@dataclass
class _Memory:
    """Locations of computed values that several generated C functions share.

    A value is located either in a result of the converted CasADi function, or in a cell of the scratch
    array `w`.
    """

    tape: Tape
    names: _Names
    cells: dict[int, int] = field(default_factory=dict)
    size: int = 0

    def __post_init__(self) -> None:
        self._results = {operation: dict(places) for operation, places in self.tape.results.items()}

    def result(self, values: StridedOperand) -> StridedOperand | None:
        """Return a function result that contains all given values, and the indices of the values in this result.

        If several function results contain all values, the first of these function results is used. If
        no function result contains all values, None is returned.
        """
        found = [self._results.get(operation, {}) for operation in values.elements]
        block = next(iter(found[0]), None)
        if block is None or any(block not in places for places in found):
            return None
        return StridedOperand(block, tuple(places[block] for places in found))

    def places(self, values: StridedOperand) -> tuple[str, int, Sequence[int]]:
        """Return where values are stored: the C array, the index of the block, and the indices in the block.

        The C array is `arg` (arguments), `res` (results) or the scratch array `w`. A block is one
        argument or result. For the array `w`, the block index is 0.
        """
        if values.block != COMPUTED:
            return "arg", values.block, values.elements
        if (found := self.result(values)) is not None:
            return "res", found.block, found.elements
        return "w", 0, [self.cells[operation] for operation in values.elements]


def _memory(tape: Tape, cut: Sequence[Piece], operands: Sequence[list[list[Operand]]], names: _Names) -> _Memory:
    """Allocate cells of the scratch array `w` for all values that several C functions share.

    In a loop, the results of one line occupy consecutive cells, one per iteration. A cell is reused
    after the last C function that reads its value.
    """
    memory = _Memory(tape, names)
    last = _last_readers(memory, operands)
    last_reader = np.full(0, -1)
    for k, piece in enumerate(cut):
        readers = last[piece.start : piece.end].reshape(piece.rounds, piece.period).max(axis=0)
        lines = np.flatnonzero(readers >= 0)
        rooms = _rooms(last_reader < k, piece.rounds, len(lines))
        missing = rooms[-1] + piece.rounds - len(last_reader) if rooms else 0
        last_reader = np.concatenate([last_reader, np.full(max(missing, 0), -1)])
        for line, room in zip(lines.tolist(), rooms, strict=True):
            row = range(piece.start + line, piece.end, piece.period)
            last_reader[room : room + piece.rounds] = readers[line]
            memory.cells.update(zip(row, range(room, room + piece.rounds), strict=True))
    memory.size = len(last_reader)
    return memory


def _last_readers(memory: _Memory, operands: Sequence[list[list[Operand]]]) -> Integers:
    """Return the index of the last C function that reads the result of each operation, shape (n,).

    Each section of the tape becomes one C function. The index is −1 if no function reads the result
    from the scratch array `w`.
    """
    last = np.full(len(memory.tape.codes), -1)
    for k, lines in enumerate(operands):
        for values in _read(operand for line in lines for operand in line):
            if values.block == COMPUTED and memory.result(values) is None:
                last[list(values.elements)] = k
    return last


def _read(operands: Iterable[Operand]) -> Iterable[StridedOperand]:
    """Yield the given operands that the C code reads from memory. Operands in local variables are omitted."""
    for operand in operands:
        if isinstance(operand, Carried):
            yield operand.first
        elif isinstance(operand, StridedOperand):
            yield operand


def _rooms(free: NDArray[np.bool_], count: int, wanted: int) -> list[int]:
    """Find `wanted` disjoint ranges of free memory cells and return the first index of each range.

    Each range has `count` consecutive cells. A range may extend beyond the last existing cell, because
    the memory can be extended.
    """
    sums = np.concatenate([[0], np.cumsum(np.concatenate([free, np.ones(count * wanted, dtype=bool)]))])
    places = iter(np.flatnonzero(sums[count:] - sums[:-count] == count).tolist())
    found: list[int] = []
    while len(found) < wanted:
        end = found[-1] + count if found else 0
        found.append(next(place for place in places if place >= end))
    return found


class _Text:
    """Generator of the C function for one section of a tape: a loop or a straight-line sequence."""

    def __init__(self, tape: Tape, piece: Piece, operands: list[list[Operand]], memory: _Memory) -> None:
        self._tape, self._piece, self._operands, self._memory = tape, piece, operands, memory
        # The C table of indices has one column for each distinct sequence of indices.
        self._columns: dict[tuple[int, ...], int] = {}
        self._uses = Counter(operand for line in operands for operand in line)
        # An operand that a loop iteration reads several times is stored in a C variable.
        self._named: dict[StridedOperand, str] = {}
        self._carried: dict[Carried, str] = {}
        # The set contains the names of the C function's parameters that the function's code uses.
        self.arrays: set[str] = set()
        self._blocks: dict[str, int] = {}
        self._lines: list[str] = []

    def text(self) -> str:
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
        self._lines += [f"    double a{line} = {value};{_comment(about for _, about in operands)}\n"]
        row = range(first, self._piece.end, self._piece.period)
        wanted = [tape.results[k] for k in row] if first in tape.results else []
        for places in zip(*wanted, strict=True):
            self._write("res", places[0][0], [element for _, element in places], line)
        if first in self._memory.cells:
            self._write("w", 0, [self._memory.cells[k] for k in row], line)

    def _operand(self, operand: Operand) -> tuple[str, str]:
        """Return the C expression of an operand, and a text for a comment in the C code.

        The text contains the names of the elements that the operand reads.
        """
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
            self._lines += [f"    double {name} = {number};{_comment([about])}\n"]
        return self._named[operand], ""

    def _write(self, array: str, block: int, indices: Sequence[int], line: int) -> None:
        about = _comment([self._about(array, block, indices)])
        self._lines += [f"    {self._element(array, block, indices)} = a{line};{about}\n"]

    def _first(self, carried: Carried) -> str:
        return self._element(*self._memory.places(carried.first))

    def _element(self, array: str, block: int, indices: Sequence[int]) -> str:
        """Return the C expression of an element of an argument, a result or the scratch array.

        The index of the element depends on the loop iteration.
        """
        self.arrays.add(array)
        if array == "w":
            return f"w[{self._index(indices)}]"
        name = self._memory.names.enumerator(array, block)
        self._blocks[name] = block
        return f"{array}[{name}][{self._index(indices)}]"

    def _about(self, array: str, block: int, indices: Sequence[int]) -> str:
        return "" if array == "w" else self._memory.names.elements(array, block, indices)

    def _enumerators(self) -> str:
        if not self._blocks:
            return ""
        return f"    enum {{ {', '.join(f'{name} = {block}' for name, block in self._blocks.items())} }};\n"

    def _index(self, indices: Sequence[int]) -> str:
        """Return the C expression of an array index that depends on the loop iteration."""
        steps = {b - a for a, b in pairwise(indices)} or {0}
        if len(steps) > 1:
            return f"at[i][{self._columns.setdefault(tuple(indices), len(self._columns))}]"
        step = steps.pop()
        return str(indices[0]) if step == 0 else f"{indices[0]} + i" if step == 1 else f"{indices[0]} + {step}*i"

    def _table(self) -> str:
        """Return the C table of all array indices that are not affine functions of the loop iteration."""
        if not self._columns:
            return ""
        rows = (", ".join(map(str, row)) for row in zip(*self._columns, strict=True))
        return f"    static const int at[][{len(self._columns)}] = {{{{{'}, {'.join(rows)}}}}};\n"


def _comment(parts: Iterable[str]) -> str:
    found = [part for part in parts if part]
    return f" /* {', '.join(found)} */" if found else ""
