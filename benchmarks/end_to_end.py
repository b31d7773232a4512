"""Run of a description end to end: `gpmelica check`, then `gpmelica run` with its FMU."""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from awkward_machines.judge import Answer, toml
from awkward_machines.parts import Table
from helpers_time import alarm

from gpmelica.cli import app


@dataclass(frozen=True)
class Ended:
    """End of a command: exit status (−1: it was killed or crashed) and output."""

    status: int
    out: str
    err: str


def end_to_end(data: Table, folder: Path, seconds: float) -> Answer:
    """Run `gpmelica check` and `gpmelica run`, each for at most `seconds`, and return the answer."""
    (folder / "machine.toml").write_text(toml(data), encoding="utf-8")
    checked = gpmelica(["check", "machine.toml", "--json"], folder, seconds)
    if checked.status not in (0, 1):  # 1: not consistent, which the run says too
        return Answer("refused" if checked.status == 2 else "crashed", None, checked.err)
    run = gpmelica(["run", "machine.toml", "--no-rumoca", "--fresh", "--out", "out"], folder, seconds)
    said = "\n".join((checked.out, run.out, run.err))
    return Answer(_ending(run, folder / "out" / "result.json"), int(json.loads(checked.out)["dof"]), said)


def _ending(run: Ended, file: Path) -> str:
    if run.status not in (0, 1) or any(word in run.err for word in ("Traceback", "Warning")):
        return "crashed"
    if not file.exists():
        return "stops" if run.status else "no result"
    result = json.loads(file.read_text(encoding="utf-8"))
    if result["ok"] != (run.status == 0):
        return "status against result"
    if not result.get("consistent", True):
        return "not consistent"
    if not all(entry["ok"] for entry in result["runs"]):
        return "disagrees"
    return "ok" if result.get("holds", True) else "does not hold"


def gpmelica(arguments: list[str], folder: Path, seconds: float) -> Ended:
    """A command in this process, in a folder, by the clock where the system has one that rings."""
    out, err, before = io.StringIO(), io.StringIO(), (Path.cwd(), sys.argv, sys.stdout, sys.stderr)
    os.chdir(folder)
    sys.argv, sys.stdout, sys.stderr = ["gpmelica", *arguments], out, err
    try:
        with alarm(seconds), warnings.catch_warnings():
            warnings.simplefilter("always")
            app.main()
    except SystemExit as ended:
        return Ended(int(ended.code or 0), out.getvalue(), err.getvalue())
    except TimeoutError:
        return Ended(-1, out.getvalue(), f"no answer within {seconds:g} s")
    except Exception:
        return Ended(-1, out.getvalue(), err.getvalue() + traceback.format_exc())
    finally:
        os.chdir(before[0])
        sys.argv, sys.stdout, sys.stderr = before[1:]
