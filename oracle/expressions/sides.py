"""Switching conditions that are frozen between events, so that integrators see smooth equations."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Condition:
    """Switching condition evaluated at one state.

    Parameters
    ----------
    label : str
        Name of the element that owns the condition, such as `contact deck`.
    words : tuple of str
        Phrases for a change of the condition to true and for a change to false.
    margin : float
        Value of the event function; positive if the condition is true.
    closed : bool
        Whether the condition is true at margin zero.
    """

    label: str
    words: tuple[str, str]
    margin: float
    closed: bool

    @property
    def is_true(self) -> bool:
        """Whether the condition is true for the current value of its event function."""
        return self.margin > 0.0 or (self.closed and self.margin == 0.0)


@dataclass
class Sides:
    """Truth values of switching conditions in a time segment.

    Frozen conditions keep their values. All other conditions follow from the margins at the current
    state.

    Parameters
    ----------
    instant : float
        Time inside the segment at which conditions on time alone are evaluated, s.
    kept : mapping
        Frozen values of conditions, by key.
    seen : dict
        Conditions evaluated so far, by key.
    """

    instant: float
    kept: Mapping[Hashable, bool] = field(default_factory=dict)
    seen: dict[Hashable, Condition] = field(default_factory=dict)

    def decide(self, key: Hashable, condition: Condition) -> bool:
        """Return the frozen truth value of a condition, or the current truth value if it is not frozen."""
        self.seen[key] = condition
        return self.kept.get(key, condition.is_true)

    @property
    def have_switched(self) -> bool:
        """Whether any evaluated condition has no frozen truth value, or has changed since it was frozen."""
        return any(self._has_switched(key, found) for key, found in self.seen.items())

    def _has_switched(self, key: Hashable, found: Condition) -> bool:
        return key not in self.kept or (found.margin != 0.0 and found.is_true != self.kept[key])
