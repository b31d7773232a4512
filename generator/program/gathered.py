"""Registry of arrays for the Modelica source.

The program defines each array element separately, for example by one definition for each body. The
registry records which definitions form an array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...language.ir import Expr


@dataclass(frozen=True)
class GatheredArray:
    """Modelica array that contains a quantity of each member of an index set, such as each body's mass.

    Attributes
    ----------
    over
        Name of the index set: a key of `Gatherings.sets`.
    description
        Description of the whole array.
    elements
        Mapping from the label of each member to its value, which is a symbol of the program or a
        constant.
    """

    name: str
    over: str
    unit: str | None
    description: str
    elements: dict[str, Expr] = field(default_factory=dict)


@dataclass(frozen=True)
class ConstantTable:
    """Constant table that maps each member of the set `over` to a member of the set `of`.

    For example, a table maps each body to its parent.

    Attributes
    ----------
    members
        Mapping from labels in `over` to labels in `of`. Members without a counterpart, such as a root
        body, are missing.
    """

    name: str
    over: str
    of: str
    description: str
    members: Mapping[str, str]


@dataclass
class Gatherings:
    """Sets of similar parts of a mechanism, such as bodies, and the quantities of their members.

    Attributes
    ----------
    sets
        Mapping from the name of a set to the labels of its members, in order.
    arrays
        Mapping from the name of a quantity to its values for all members.
    tables
        Constant tables of the topology.
    """

    sets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    arrays: dict[str, GatheredArray] = field(default_factory=dict)
    tables: list[ConstantTable] = field(default_factory=list)

    def add(self, name: str, member: tuple[str, str], value: Expr, unit: str | None, description: str) -> Expr:
        """Register the value of a quantity for one member of an index set, and return the value.

        The member is given by the name of the set and the label of the member.
        """
        over, label = member
        array = self.arrays.setdefault(name, GatheredArray(name, over, unit, description))
        array.elements[label] = value
        return value

    def positions(self, table: ConstantTable) -> tuple[int, ...]:
        """Return the positions that a constant table contains, counted from 1.

        For each member of the set `over`, the position is that of its counterpart in the set `of`. It is 0
        for a member without a counterpart.
        """
        places = {label: i for i, label in enumerate(self.sets[table.of], start=1)}
        return tuple(places.get(table.members.get(label, ""), 0) for label in self.sets[table.over])

    def members(self, name: str, labels: Sequence[str]) -> None:
        """Define an index set by the labels of its members."""
        self.sets[name] = tuple(labels)

    def copy(self) -> Gatherings:
        """Return an independent copy that can be extended without changing the original."""
        arrays = {name: replace(array, elements=dict(array.elements)) for name, array in self.arrays.items()}
        return Gatherings(dict(self.sets), arrays, list(self.tables))
