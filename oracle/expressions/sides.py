"""Conditions whose sides are kept between events, so that integrators see smooth equations."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Condition:
    """A condition that has been looked at in a state.

    Parameters
    ----------
    label : str
        What it belongs to, such as `contact deck`.
    words : tuple of str
        What it means that it becomes true, and false.
    margin : float
        Above zero where it is true.
    closed : bool
        Whether it is true where the margin is zero.
    """

    label: str
    words: tuple[str, str]
    margin: float
    closed: bool

    @property
    def is_true(self) -> bool:
        """Whether it is true by its margin."""
        return self.margin > 0.0 or (self.closed and self.margin == 0.0)


@dataclass
class Sides:
    """Sides of conditions during a time segment; what is not among them is decided by its margin.

    Parameters
    ----------
    instant : float
        An instant inside of the segment, s, by which conditions on time alone are decided.
    kept : mapping
        Key of a condition to whether it counts as true.
    seen : dict
        Conditions that have been looked at, by their keys.
    """

    instant: float
    kept: Mapping[Hashable, bool] = field(default_factory=dict)
    seen: dict[Hashable, Condition] = field(default_factory=dict)

    def decide(self, key: Hashable, condition: Condition) -> bool:
        """Return the side of a condition."""
        self.seen[key] = condition
        return self.kept.get(key, condition.is_true)

    def changed(self) -> list[Hashable]:
        """Return the keys of the seen conditions that have left the sides that are kept."""
        return [
            key
            for key, found in self.seen.items()
            if key in self.kept and found.margin != 0.0 and found.is_true != self.kept[key]
        ]
