"""Files of all kinds that a user gives, damaged by a seed, and what reads them.

Numbers, lines or bytes are changed; archives are packed anew around a damaged description, so that their checksums
say nothing. A reader may accept a damaged file or refuse it in words.
"""

from __future__ import annotations

import io
import random
import re
import time
import traceback
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import GpmelicaError
from gpmelica.description import load
from gpmelica.runs.compare.compare import compare
from gpmelica.runs.fmpy_runs.inputs import read_inputs
from gpmelica.runs.fmpy_runs.simulate import read_or_simulate
from gpmelica.runs.fmpy_runs.states import read_state

SLOW = 20.0  # s
_ROOT = Path(__file__).parents[1]
_DESCRIPTIONS = (
    *(_ROOT / "examples" / f"{name}.toml" for name in ("four_bar_3d", "rsrrp", "manipulator", "mobile_robot")),
    *(
        _ROOT / "examples" / name
        for name in ("lorry_crane.toml", "tower_crane/tower_crane.toml", "arms/six_axis.toml")
    ),
    *[_ROOT / "tests" / "data" / "every_table.toml"] * 3,
)
_TABLES = (_ROOT / "tests" / "data" / "every_table.csv", _ROOT / "examples" / "tower_crane" / "slew.csv")
_STATE = b'{"t": 0.25, "q": [0.5, -0.7, 1e-3], "qd": [1.0, -2.0, 0], "z": [0.001]}'
_COLUMNS = b"time,push,wind\n" + b"".join(b"%g,%g,%g\n" % (k / 50, k * 0.3, 1.0 / (1 + k)) for k in range(51))
_HURTS = (b"\x00", b"\xff\xfe", b"nan", b"-inf", b"1e999", b"9" * 400, b"[" * 60, b"]", b'"', b"'''", b"\n", b"=")
_HURTS += (*b"{ } , ;".split(), b"\r", "é".encode(), *b"1_0 0x - ground true E.x /0 ^9".split())
_NUMBERS = tuple(b"0 -1 1 3.14159265358979 1e-12 1e-300 1e12 1e30 1e300 nan inf 2 -0.5 100".split())
_NUMBERS += (b"7" * 30, b"1e5", b"true", b'"x"')


@dataclass(frozen=True)
class Outcome:
    seed: int
    kind: str
    refused: bool
    trace: str
    seconds: float

    @property
    def amiss(self) -> bool:
        """Whether a user would be left without words, or waiting."""
        return bool(self.trace) or self.seconds > SLOW


def damaged(content: bytes, dice: random.Random) -> bytes:
    """One damage or a few: to numbers and lines, which leaves most files readable, or to any bytes."""
    damage = dice.choice((_number, _number, _line, _bytes))
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        content = damage(content, dice)
    return content


def _number(content: bytes, dice: random.Random) -> bytes:
    """Another number in place of one."""
    places = [found.span() for found in re.finditer(rb"(?<![\w.])[-+]?\d+(\.\d*)?(e[-+]?\d+)?", content)]
    begin, end = dice.choice(places or [(0, 0)])
    return content[:begin] + dice.choice(_NUMBERS) + content[end:]


def _line(content: bytes, dice: random.Random) -> bytes:
    """A line that is lost, or comes twice, or elsewhere."""
    lines = content.splitlines(keepends=True)
    line = lines.pop(dice.randrange(len(lines))) if lines else b""
    for _ in range(dice.randrange(3)):
        lines.insert(dice.randrange(len(lines) + 1), line)
    return b"".join(lines)


def _bytes(content: bytes, dice: random.Random) -> bytes:
    """Bytes flipped, cut out, doubled, cut off or replaced by what hurts."""
    begin = dice.randrange(len(content) + 1)
    end = min(len(content), begin + dice.choice((1, 1, 2, 8, 60)))
    match dice.randrange(6):
        case 0:
            return content[:begin] + bytes([dice.randrange(256)]) + content[end:]
        case 1:
            return content[:begin] + content[end:]
        case 2:
            return content[:end] + content[begin:]
        case 3 if dice.random() < 0.2:
            return content[:begin]
    return content[:begin] + dice.choice(_HURTS) + content[end:]


def _description(folder: Path, dice: random.Random, fmu: Path) -> None:
    path = folder / "machine.toml"
    for table in _TABLES:
        content = table.read_bytes()
        (folder / table.name).write_bytes(damaged(content, dice) if dice.random() < 0.1 else content)
    path.write_bytes(damaged(dice.choice(_DESCRIPTIONS).read_bytes(), dice))
    assemble_system(load(path), str(path))


def _state(folder: Path, dice: random.Random, fmu: Path) -> None:
    path = folder / "state.json"
    path.write_bytes(damaged(_STATE, dice))
    read_state(path, 3, [0.0])


def _inputs(folder: Path, dice: random.Random, fmu: Path) -> None:
    path = folder / "inputs.csv"
    path.write_bytes(damaged(_COLUMNS, dice))
    read_inputs(path, ["push", "wind"], 1.0)


def _results(folder: Path, dice: random.Random, fmu: Path) -> None:
    first, second = folder / "first.csv", folder / "second.csv"
    first.write_bytes(_COLUMNS)
    second.write_bytes(damaged(_COLUMNS, dice))
    (a, units), (b, _) = read_or_simulate(first), read_or_simulate(second)
    for one, other in ((a, b), (b, a)):
        compare(one, other, units, 1e-6)


def _archive(folder: Path, dice: random.Random, fmu: Path) -> None:
    """Damaged bytes, which its checksums find, or a damaged description inside."""
    path, content = folder / "machine.fmu", fmu.read_bytes()
    path.write_bytes(damaged(content, dice) if dice.random() < 0.3 else _repacked(content, dice))
    read_or_simulate(path)


def _repacked(content: bytes, dice: random.Random) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            member = old.read(name)
            new.writestr(name, damaged(member, dice) if name == "modelDescription.xml" else member)
    return packed.getvalue()


KINDS: dict[str, Callable[[Path, random.Random, Path], None]] = {
    "description": _description,
    "state": _state,
    "inputs": _inputs,
    "results": _results,
    "FMU": _archive,
}


def outcome(seed: int, folder: Path, fmu: Path) -> Outcome:
    """The seed's file, read as its command reads it; kinds take turns."""
    kind, dice, begin = list(KINDS)[seed % len(KINDS)], random.Random(seed), time.perf_counter()
    refused, trace = False, ""
    try:
        KINDS[kind](folder, dice, fmu)
    except GpmelicaError as error:
        refused = True
        trace = "" if str(error).strip() else "an error without words"
    except Exception:
        trace = traceback.format_exc()
    return Outcome(seed, kind, refused, trace, time.perf_counter() - begin)
