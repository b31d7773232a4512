"""Summary of the reasons why runs failed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_MOST = 12  # Largest number of different reasons that a summary lists.


def frequent_reasons(reasons: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each of the most frequent reasons why runs failed.

    Reasons that differ only in numbers count as the same reason. If further reasons exist, a last
    sentence gives the number of the remaining runs.

    Parameters
    ----------
    reasons : sequence of str
        Reason of each run, in the order of the runs; empty for a run that did not fail.
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
