"""Table of runs in a terminal of 80 columns."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from gpmelica.cli.console import verdict_table
from gpmelica.runs.compare.compare import Comparison


def test_names_of_runs_are_complete_on_80_columns() -> None:
    """The other columns are folded, so that no text is lost."""
    failed = Comparison.failed("fmu-openmodelica-me", 1e-6, "failed")
    screen = Console(width=80, file=io.StringIO(), color_system=None)
    screen.print(verdict_table([replace(failed, worst_signal="telescope_position_dot", wall_s=111.26)]))
    assert isinstance(screen.file, io.StringIO)
    shown = screen.file.getvalue()
    assert "fmu-openmodelica-me" in shown and "disagrees" in shown and "…" not in shown
