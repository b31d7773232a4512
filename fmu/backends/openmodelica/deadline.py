"""Time limit of a build."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Deadline:
    """A moment so many seconds from now."""

    seconds: float
    _begin: float = field(default_factory=time.monotonic)

    @property
    def passed(self) -> bool:
        """Whether the moment has come."""
        return time.monotonic() - self._begin > self.seconds
