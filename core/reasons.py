"""Summary of the reasons why runs failed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_MOST = 12  # A summary lists at most this many different reasons.


def frequent_reasons(reasons: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each of the most frequent reasons why runs failed.

    Reasons that differ only in numbers count as one reason. If not all reasons are listed, a final
    sentence gives the number of runs with other reasons.

    Parameters
    ----------
    reasons : sequence of str
        Reason for the failure of each run; empty for a run that did not fail.
    """
    firsts: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for run, reason in enumerate(reasons):
        if reason:
            kind = _NUMBER.sub("#", reason)
            firsts.setdefault(kind, run)
            counts[kind] += 1
    for kind, count in counts.most_common(_MOST):
        first = firsts[kind]
        yield f"{count} run{'s' * (count > 1)}, the first is run {first}: {reasons[first]}"
    others = sum(counts.values()) - sum(count for _, count in counts.most_common(_MOST))
    if others:
        yield f"{others} run{'s' * (others > 1)} failed for further reasons"
