"""Time limit of a build."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Deadline:
    """Time limit of `seconds`, counted from the creation of the object."""

    seconds: float
    _begin: float = field(default_factory=time.monotonic)

    @property
    def passed(self) -> bool:
        """Whether the time limit has been exceeded."""
        return time.monotonic() - self._begin > self.seconds
