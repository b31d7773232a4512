"""Apply single faults to copies of the package, and report which of them no test and no verdict notices.

    python benchmarks/mutants.py [--only NAME …] [--workers 2] [--seconds 300] [--json]

`mutants.toml` lists the faults, each with the tests that must fail or the run whose verdict must be red. Each
fault is applied alone to a copy in a temporary folder. Before that, all these tests must pass and all these runs
must agree without a fault. Exit status 1 if a fault survives, or if one is stale.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_suffix(".toml")
_NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "site", "*.fmu")
_SCREEN = Console(highlight=False, soft_wrap=True)


@dataclass(frozen=True)
class Mutant:
    """Single fault: a text of a file, and its replacement.

    Parameters
    ----------
    name, area : str
        Unique name, and the part of the package that is faulty.
    file : str
        Path from the repository's root.
    old, new : str
        Text that occurs once in the file, and its replacement.
    tests : tuple of str
        Arguments of pytest; one of these tests must fail.
    run : tuple of str
        Arguments of `gpmelica run`, whose verdict must be red; in place of tests.
    """

    name: str
    area: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()
    run: tuple[str, ...] = ()

    def occurrences(self, root: Path) -> int:
        """Number of places of the text in the file; 0 if there is no file."""
        path = root / self.file
        return path.read_text(encoding="utf-8").count(self.old) if path.is_file() else 0

    @contextmanager
    def applied(self, root: Path) -> Iterator[None]:
        """Inside, the file below the root has the fault."""
        path = root / self.file
        sound = path.read_text(encoding="utf-8")
        path.write_text(sound.replace(self.old, self.new), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(sound, encoding="utf-8")


@dataclass(frozen=True)
class Outcome:
    """Result of one mutant: whether it was noticed, by what, and after how many seconds."""

    name: str
    area: str
    noticed: bool
    by: str
    seconds: float


def mutants(table: Path = TABLE) -> list[Mutant]:
    """All mutants of a table, in its order."""
    entries: list[dict[str, Any]] = tomllib.loads(table.read_text(encoding="utf-8"))["mutant"]
    lists = ("tests", "run")
    return [
        Mutant(**{key: tuple(value) if key in lists else value for key, value in entry.items()})
        for entry in entries
    ]


def stale(chosen: Iterable[Mutant], root: Path = ROOT) -> list[str]:
    """One line for each mutant whose text does not occur exactly once."""
    counts = [(mutant, mutant.occurrences(root)) for mutant in chosen]
    return [
        f"{mutant.name}: expected {mutant.old!r} once in {mutant.file}, found it {count} times; "
        "give the text as it is there now"
        for mutant, count in counts
        if count != 1
    ]


class Copy:
    """A copy of the package in a folder of its own, in which tests and runs find it instead of any other one."""

    def __init__(self, folder: Path, objects: Path, seconds: float) -> None:
        self.root, self._scratch, self._seconds = folder / "gpmelica", folder / "scratch", seconds
        shutil.copytree(ROOT, self.root, ignore=_NOT_COPIED)
        path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
        # compiled modules are recognised by their content: a fault may be as long as the text that it replaces
        compiling = ("-m", "compileall", "-q", "--invalidation-mode", "checked-hash", str(self.root))
        self._environment = os.environ | {
            "PYTHONPATH": path,
            "GPMELICA_OBJECTS": str(objects),
            "GPMELICA_CACHE": "off",
        }
        subprocess.run([sys.executable, *compiling], check=True)
        found = self._python("-c", "import gpmelica; print(gpmelica.__file__)").stdout.strip()
        if Path(found) != self.root / "__init__.py":
            raise RuntimeError(f"expected Python to find gpmelica in {self.root}, found {found}")

    def outcome(self, mutant: Mutant) -> Outcome:
        """Result of the mutant's tests or run with the fault."""
        begin, noticed = time.perf_counter(), True
        with mutant.applied(self.root):
            try:
                by = self.verdict(mutant.run) if mutant.run else self.failure(mutant.tests, "-x")
            except subprocess.TimeoutExpired as late:
                by, noticed = f"nothing is known after {late.timeout:g} s", False
        seconds = round(time.perf_counter() - begin, 1)
        return Outcome(mutant.name, mutant.area, noticed and bool(by), by, seconds)

    def failure(self, tests: Sequence[str], *options: str, patience: float = 1.0) -> str:
        """Name of the first test that fails, or empty; patience: factor of the longest time."""
        shutil.rmtree(self._scratch, ignore_errors=True)
        places = (f"--basetemp={self._scratch}", "-p", "no:cacheprovider", "-m", "")  # campaigns, too
        done = self._python("-m", "pytest", "-q", "--tb=no", *places, *options, *tests, patience=patience)
        named = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
        return (named.group(1) if named else f"pytest, exit status {done.returncode}") if done.returncode else ""

    def verdict(self, arguments: Sequence[str]) -> str:
        """Command of a run with a red verdict and its exit status, or empty."""
        shutil.rmtree(self._scratch, ignore_errors=True)
        done = self._python("-m", "gpmelica", "run", *arguments, "--out", str(self._scratch), "--json")
        return f"gpmelica run {' '.join(arguments)}, exit status {done.returncode}" if done.returncode else ""

    def _python(self, *arguments: str, patience: float = 1.0) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", *arguments],
            cwd=self.root,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=patience * self._seconds,
            check=False,
        )


def baseline(copy: Copy, chosen: Sequence[Mutant], workers: int) -> list[str]:
    """Tests that fail, and runs that disagree, without a fault."""
    tests = sorted({test for mutant in chosen for test in mutant.tests})
    runs = sorted({mutant.run for mutant in chosen if mutant.run})
    side_by_side = ("-n", str(workers), "--dist", "loadfile")
    found = [copy.failure(tests, *side_by_side, patience=len(tests))] if tests else []
    return [*filter(None, [*found, *(copy.verdict(run) for run in runs)])]


def outcomes(chosen: Sequence[Mutant], workers: int, seconds: float) -> Iterator[Outcome]:
    """Results of the mutants in their order, some side by side, each in a copy of its own."""
    with tempfile.TemporaryDirectory(prefix="gpmelica-mutants-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "objects").mkdir()
        copies: queue.Queue[Copy] = queue.Queue()
        for k in range(workers):
            copies.put(Copy(folder / str(k), folder / "objects", seconds))
        if faults := baseline(copies.queue[0], chosen, workers):
            raise RuntimeError(
                f"without a fault, expected all to pass, found {', '.join(faults)}; mend these first"
            )

        def judged(mutant: Mutant) -> Outcome:
            copy = copies.get()
            try:
                return copy.outcome(mutant)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(judged, chosen)


def _line(outcome: Outcome) -> str:
    word = "noticed" if outcome.noticed else "SURVIVES"
    by = f", {outcome.by}" if outcome.by else ""
    return f"{word:9}{outcome.seconds:6.1f} s  {outcome.area}: {outcome.name}{by}"


def main() -> int:
    """Judge the chosen mutants, print, return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="mutants of these names or areas")
    parser.add_argument("--table", type=Path, default=TABLE, help="file that lists the mutants")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=300.0, help="longest time of one mutant's tests")
    parser.add_argument("--json", action="store_true", help="print JSON for scripts")
    options = parser.parse_args()
    every = mutants(options.table)
    if missing := [name for name in options.only if not any(name in (m.name, m.area) for m in every)]:
        parser.error(f"--only: expected names or areas of {options.table.name}, found {', '.join(missing)}")
    chosen = [m for m in every if not options.only or {m.name, m.area} & {*options.only}]
    if lines := stale(chosen):
        print("\n".join(lines), file=sys.stderr)
        return 1
    found: list[Outcome] = []
    for outcome in outcomes(chosen, options.workers, options.seconds):
        found.append(outcome)
        if not options.json:
            _SCREEN.print(_line(outcome), markup=False)
    survivors = [outcome for outcome in found if not outcome.noticed]
    if options.json:
        print(json.dumps([asdict(outcome) for outcome in found], indent=2))
    else:
        _SCREEN.print(f"{len(found)} mutants, {len(survivors)} survive")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
