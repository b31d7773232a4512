"""Published results of other programs, experiments and closed forms beside what gpmelica computes.

    python benchmarks/published.py [--json] [--case NAME …] [--quick] [--workers 2]

Runs the descriptions in `benchmarks/published/` as FMUs (model exchange by FMPy's CVODE, co-simulation) and in the
reference solver, and prints source, case, quantity, published value, ours and their difference. The difference is
absolute, divided by a magnitude: of the value itself for single numbers, of the largest published component of the
same vector for trajectories and reactions. `--json` prints all rows as a list of objects; exit status 1 if a
difference exceeds what its case allows.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from statistics import median
from typing import Any

from published import adams_joints, andrews, beams, closed_forms, exudyn, iftomm, modelica_library
from published.case import Case, Value
from rich.console import Console
from rich.table import Table

# the longest ones first, so that no worker ends alone
CASES = (
    *iftomm.CASES[2:],
    *beams.CASES,
    *exudyn.CASES,
    *modelica_library.CASES,
    *andrews.CASES,
    *adams_joints.CASES,
    *iftomm.CASES[:2],
    *closed_forms.CASES,
)
BY_NAME = {case.name: case for case in CASES}


def compared(name: str) -> list[Value]:
    """Values of a case; callable in a worker process."""
    return BY_NAME[name].compared()


def rows(case: Case, values: Sequence[Value]) -> list[dict[str, Any]]:
    """JSON-ready rows of a case."""
    return [
        {
            "source": case.source,
            "case": case.name,
            "quantity": value.quantity,
            "run": value.run,
            "published": value.published,
            "ours": value.ours,
            "difference": value.difference,
        }
        for value in values
    ]


def print_values(console: Console, case: Case, values: Sequence[Value]) -> None:
    """All values of a case under its source."""
    table = Table(title=f"{case.name}: {case.source} ({case.precision})", title_justify="left")
    for heading in ("quantity", "run"):
        table.add_column(heading)
    for heading in ("published", "ours", "difference"):
        table.add_column(heading, justify="right")
    for value in values:
        numbers = f"{value.published:.12g}", f"{value.ours:.12g}", f"{value.difference:.1e}"
        table.add_row(value.quantity, value.run, *numbers)
    console.print(table)


def print_summary(console: Console, found: dict[str, list[Value]]) -> None:
    """Count, median and worst difference of each case and of all."""
    table = Table(title="Differences", title_justify="left")
    for heading in ("case", "values", "median", "worst", "allowed", "precision of the published values"):
        table.add_column(heading, justify="left" if heading.startswith(("case", "precision")) else "right")
    for name, values in found.items():
        case, differences = BY_NAME[name], [value.difference for value in values]
        figures = f"{median(differences):.1e}", f"{max(differences):.1e}", f"{case.bound:.1e}"
        table.add_row(name, str(len(values)), *figures, case.precision)
    whole = [value.difference for values in found.values() for value in values]
    table.add_section()
    table.add_row("all", str(len(whole)), f"{median(whole):.1e}", f"{max(whole):.1e}", "", "")
    console.print(table)


def main() -> int:
    """Run the chosen cases and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--case", nargs="+", choices=sorted(BY_NAME), metavar="NAME", help=", ".join(sorted(BY_NAME))
    )
    parser.add_argument("--quick", action="store_true", help="only the cases that the test suite runs")
    parser.add_argument("--json", action="store_true", help="print a list of rows for a program to read")
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    arguments = parser.parse_args()
    chosen = [
        case for case in CASES if case.name in (arguments.case or BY_NAME) and (case.quick or not arguments.quick)
    ]
    with ProcessPoolExecutor(max_workers=arguments.workers) as pool:
        names = [case.name for case in chosen]
        found = dict(zip(names, pool.map(compared, names), strict=True))
    if arguments.json:
        print(json.dumps([row for case in chosen for row in rows(case, found[case.name])], indent=1))
    else:
        console = Console(width=None if sys.stdout.isatty() else 160)
        for case in chosen:
            print_values(console, case, found[case.name])
        print_summary(console, found)
    exceeded = [case.name for case in chosen if max(v.difference for v in found[case.name]) > case.bound]
    if exceeded:
        print(f"larger than allowed: {', '.join(exceeded)}", file=sys.stderr)
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
