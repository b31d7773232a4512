"""Comparison of runs that fail at a singular configuration.

At a singular configuration, the motion can continue along several branches that all fulfil the
constraints. A comparison beyond this configuration is therefore not meaningful.
"""

from __future__ import annotations

from dataclasses import replace

from .compare import Comparison


def ends_at_singular(comparison: Comparison, singular: float, message: str) -> Comparison:
    """Return the comparison of a failed run with a note that explains why the comparison ends early.

    Parameters
    ----------
    comparison : Comparison
        Comparison up to a time before the first singular configuration.
    singular : float
        Time of the singular configuration, s.
    message : str
        Error message of the failed run.
    """
    why = (
        f"the run failed after the first singular configuration at t = {singular:.4g} s, so it is compared up to"
        f" t = {comparison.horizon:.4g} s; message of the run: {message}"
    )
    note = "; ".join(part for part in (comparison.note, why) if part)
    return replace(comparison, singular_from=singular, note=note)
