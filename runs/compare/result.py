"""File `result.json`: verdict of a run in machine-readable form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...analysis import LinearisedMode
from ...core.files import write_atomically
from ...core.strict_json import strict_json
from .compare import Comparison
from .context import RunReport

_OF_RUN = (
    *("name", "wall_s", "steps", "max_abs_error", "max_rel_error", "violation_position", "ok"),
    *("violation_velocity", "worst_signal", "horizon", "sensitive_from", "singular_from", "tolerance", "note"),
)


def write_result(out: Path, report: RunReport) -> Path:
    """Write `result.json` to the folder and return its path.

    Numbers that are not finite are written as null.
    """
    path = out / "result.json"
    write_atomically(path, strict_json(result(report)))
    return path


def withdraw_verdict(out: Path) -> None:
    """Delete the verdict of an earlier run from the folder.

    If the new run fails, no outdated verdict remains.
    """
    for name in ("result.json", "report.html"):
        (out / name).unlink(missing_ok=True)


def result(report: RunReport) -> dict[str, Any]:
    """Return the contents of `result.json`."""
    return {
        "model": report.mechanism.name,
        "case": report.case,
        "n": report.mechanism.n,
        "dof": report.model.degrees_of_freedom,
        "compilers": dict(report.compilers),
        "runs": [comparison_data(comparison) for comparison in report.comparisons],
        "tolerance": report.tolerance,
        "ok": report.ok,
        **{name: finding.ok for name, finding in report.findings.items()},
        "because": {name: finding.text for name, finding in report.findings.items()},
        "plausible": [remark.data() for remark in report.plausible],
        "notes": list(report.notes),
        "reused": report.reused,
        "events": [{"t": e.t, "of": e.label, "what": e.word} for e in report.reference.events],
        "not_unique": {name: list(parts) for name, parts in report.not_unique.items()},
        "stiffest_mode": _mode_data(report.modes[0]) if report.modes else None,
    }


def _mode_data(mode: LinearisedMode) -> dict[str, Any]:
    return {
        "coordinate": mode.coordinate,
        "of_stabilisation": mode.violating,
        "eigenvalue": [mode.eigenvalue.real, mode.eigenvalue.imag],
        "frequency_Hz": mode.frequency,
        "damped_frequency_Hz": mode.damped_frequency,
        "time_constant_s": mode.time_constant,
        "longest_rk4_step_s": mode.longest_rk4_step,
    }


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """Return the entry of one run in the list `runs` of `result.json`."""
    return {key: getattr(comparison, key) for key in _OF_RUN}


def coverage_data(comparison: Comparison) -> dict[str, Any]:
    """Return the time spans of both runs, and the signals that only one run has, for `compare --json`."""
    found = comparison.coverage
    if found is None:
        return {"complete": False}
    return {
        "complete": found.complete,
        "spans": [list(found.reference), list(found.run)],
        "missing": {"first": list(found.extra), "second": list(found.missing)},
    }
