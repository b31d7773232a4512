"""Arrays over coordinates, bodies or elements of one kind, whose elements the program defines one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...language.ir import Expr


@dataclass(frozen=True)
class GatheredArray:
    """Quantity of all members of a set, for Modelica sources that declare it as one array.

    over         name of the set: a key of `Gatherings.sets`
    description  of the whole array
    elements     member's label → its value: a symbol of the program, or a constant
    """

    name: str
    over: str
    unit: str | None
    description: str
    elements: dict[str, Expr] = field(default_factory=dict)


@dataclass(frozen=True)
class ConstantTable:
    """Constant table: the member of the set `of` that belongs to each member of the set `over`.

    members  label in `over` → label in `of`; a missing label has no partner
    """

    name: str
    over: str
    of: str
    description: str
    members: Mapping[str, str]


@dataclass
class Gatherings:
    """Sets of equal things of a mechanism, and what is known of each member.

    sets     name → labels of the members, in their order
    arrays   name → quantity of all members
    tables   constant tables of the topology
    """

    sets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    arrays: dict[str, GatheredArray] = field(default_factory=dict)
    tables: list[ConstantTable] = field(default_factory=list)

    def add(self, name: str, member: tuple[str, str], value: Expr, unit: str | None, description: str) -> Expr:
        """Note what the quantity `name` is for a member (its set and its label); returns the value."""
        over, label = member
        array = self.arrays.setdefault(name, GatheredArray(name, over, unit, description))
        array.elements[label] = value
        return value

    def positions(self, table: ConstantTable) -> tuple[int, ...]:
        """Positions, counted from 1, in the set `of`; 0: none."""
        places = {label: i for i, label in enumerate(self.sets[table.of], start=1)}
        return tuple(places.get(table.members.get(label, ""), 0) for label in self.sets[table.over])

    def members(self, name: str, labels: Sequence[str]) -> None:
        """Define a set."""
        self.sets[name] = tuple(labels)

    def copy(self) -> Gatherings:
        """Return an independent copy, to which more may be added."""
        arrays = {name: replace(array, elements=dict(array.elements)) for name, array in self.arrays.items()}
        return Gatherings(dict(self.sets), arrays, list(self.tables))
