"""Output of the command line: tables and progress bars on a terminal, JSON for scripts."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column, Table

from ..core.errors import MissingToolError
from ..core.strict_json import strict_json
from .status import MISSING_TOOL, OK

if TYPE_CHECKING:
    import typer

    from ..plausibility import Remark
    from ..runs.compare.compare import Comparison

COLOURS = {"green": "green", "amber": "yellow", "red": "red"}

errors = Console(stderr=True, soft_wrap=True, highlight=False)
# Output to a pipe has no terminal width; 200 columns are enough for complete tables.
screen = Console(highlight=False, width=None if sys.stdout.isatty() else 200)


@contextmanager
def progress_bars() -> Iterator[Callable[[str, float], None]]:
    """Show one progress bar per activity on standard error, if it is a terminal."""
    # Progress notes in a table column are wrapped if they are wider than the terminal.
    words = TextColumn("{task.description}", markup=False, table_column=Column())
    columns = (SpinnerColumn(), words, BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=errors, disable=not errors.is_terminal) as bars:
        tasks: dict[str, Any] = {}

        def report(what: str, fraction: float) -> None:
            if what not in tasks:
                for task in tasks.values():
                    bars.update(task, total=1.0, completed=1.0)
                tasks[what] = bars.add_task(what, total=None if fraction == 0.0 else 1.0)
            bars.update(tasks[what], total=1.0 if fraction else None, completed=fraction)

        yield report


def command_line(context: typer.Context) -> str:
    """Return a command line that repeats the current command with equal arguments and options."""
    words = ["gpmelica", str(context.info_name)]
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[name]
        if parameter.param_type_name == "argument":
            words.append(str(value))
        elif isinstance(value, bool):
            words.append(parameter.opts[0] if value else parameter.secondary_opts[0])
        else:
            for one in value if isinstance(value, list | tuple) else [value]:
                words += [parameter.opts[0], str(one)]
    return shlex.join(words)


def emit(data: Any) -> None:
    """Print data as JSON."""
    sys.stdout.write(json.dumps(data, indent=2) + "\n")


def wrote(paths: list[Path], as_json: bool) -> None:
    """Print the paths of written files, as text or JSON."""
    if as_json:
        emit({"files": [str(path) for path in paths]})
        return
    for path in paths:
        screen.print(f"wrote {path}", markup=False)


@dataclass(frozen=True)
class Written:
    """Paths of the files that a command wrote, and reasons why other files were not written."""

    paths: list[Path]
    missing: dict[Path, str]

    def show(self, as_json: bool) -> int:
        """Print the paths and the reasons, as text or JSON, and return the exit status.

        The status is 3 if a file was not written because a tool is missing.
        """
        if as_json:
            lacking = {str(path): reason for path, reason in self.missing.items()}
            emit({"files": [str(path) for path in self.paths]} | ({"not_written": lacking} if lacking else {}))
        else:
            wrote(self.paths, as_json=False)
        for path, reason in self.missing.items():
            errors.print(f"not written: {path}: {reason}", style="red", markup=False)
        return MISSING_TOOL if self.missing else OK


def write_each(targets: Iterable[Path], write: Callable[[Path], Path]) -> Written:
    """Write each file; if a tool for one file is not installed, continue with the next file.

    If no file can be written, MissingToolError is raised.
    """
    paths: list[Path] = []
    missing: dict[Path, MissingToolError] = {}
    for target in targets:
        try:
            paths.append(write(target))
        except MissingToolError as error:
            missing[target] = error
    if missing and not paths:
        raise next(iter(missing.values()))
    return Written(paths, {path: str(error) for path, error in missing.items()})


def show(shown: Iterable[Table | str], paths: list[Path]) -> None:
    """Print tables and lines of text, and then the paths of the written files."""
    for part in shown:
        screen.print(part)
    wrote(paths, as_json=False)


def show_remarks(remarks: Iterable[Remark]) -> None:
    """Print remarks on unusual values, one per line."""
    for remark in remarks:
        screen.print(f"[{COLOURS['amber']}]look at[/] {escape(remark.text)}")


def emit_strict(data: Any) -> None:
    """Print data as strict JSON, without NaN and infinity."""
    sys.stdout.write(strict_json(data))


def coverage_lines(comparison: Comparison) -> Iterator[str]:
    """Yield sentences about different time spans, and about signals that only one of two files contains.

    A short list of missing signals is omitted, because the note of the comparison contains this list.
    """
    from ..runs.compare.compare import LISTED

    found = comparison.coverage
    if found is None:
        return
    if not found.same_span:
        (a, b), (c, d) = found.reference, found.run
        yield f"time spans differ: first file {a:.6g} to {b:.6g} s, second file {c:.6g} to {d:.6g} s"
    for which, names in (("first", found.extra), ("second", found.missing)):
        if len(names) > LISTED:
            yield f"signals missing from the {which} file: {', '.join(names)}"


def verdict_table(comparisons: Iterable[Comparison], in_part: bool = False) -> Table:
    """Return a table with one comparison per row.

    With `in_part`, the verdict of comparisons that agree is "agrees in part".

    In a narrow terminal, long cells are wrapped, except the name of the run and the verdict.
    """
    others = ("wall s", "max rel error", "tolerance", "worst signal", "horizon s")
    folded = (Column(header, overflow="fold") for header in others)
    table = Table(Column("run", no_wrap=True), *folded, Column("verdict", no_wrap=True))
    for c in comparisons:
        agrees = "[yellow]agrees in part[/yellow]" if in_part else "[green]agrees[/green]"
        verdict = agrees if c.ok else "[red]disagrees[/red]"
        table.add_row(
            c.name,
            f"{c.wall_s:.2f}",
            f"{c.max_rel_error:.2g}",
            f"{c.tolerance:.2g}",
            c.worst_signal,
            f"{c.horizon:.4g}",
            verdict,
        )
    return table


@contextmanager
def printed() -> Iterator[None]:
    """Flush standard output when the `with` block ends.

    If flushing fails, standard output is redirected to the null device before the error is raised.
    Otherwise, Python would try to flush again at exit and print a second error.
    """
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        except OSError:
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
            raise
