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
    """Constant table of the topology: members of the set `over` have counterparts in the set `of`.

    For example, the counterpart of a body is its parent.

    Attributes
    ----------
    members
        Mapping from the label of a member of `over` to the label of its counterpart in `of`. Members
        without a counterpart, such as a root body, are missing.
    """

    name: str
    over: str
    of: str
    description: str
    members: Mapping[str, str]


@dataclass
class Gatherings:
    """Index sets, such as all bodies, and arrays over these sets, such as the masses of all bodies.

    Attributes
    ----------
    sets
        Mapping from the name of an index set to the labels of its members, in the order of their
        numbers.
    arrays
        Mapping from the name of an array to the array, which has one value per member of its index set.
    tables
        Constant tables that describe the topology of the mechanism.
    """

    sets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    arrays: dict[str, GatheredArray] = field(default_factory=dict)
    tables: list[ConstantTable] = field(default_factory=list)

    def add(self, name: str, member: tuple[str, str], value: Expr, unit: str | None, description: str) -> Expr:
        """Register a value as an element of an array over an index set, and return the value.

        The argument `name` is the name of the array. The argument `member` contains the name of the
        index set and the label of one member.
        """
        over, label = member
        array = self.arrays.setdefault(name, GatheredArray(name, over, unit, description))
        array.elements[label] = value
        return value

    def positions(self, table: ConstantTable) -> tuple[int, ...]:
        """Return the elements of a constant table in the Modelica source.

        There is one element per member of the set `over`. The element is the position of the member's
        counterpart in the set `of`, counted from 1. It is 0 if the member has no counterpart.
        """
        places = {label: i for i, label in enumerate(self.sets[table.of], start=1)}
        return tuple(places.get(table.members.get(label, ""), 0) for label in self.sets[table.over])

    def members(self, name: str, labels: Sequence[str]) -> None:
        """Define an index set by the labels of its members, in the order in which they are numbered."""
        self.sets[name] = tuple(labels)

    def copy(self) -> Gatherings:
        """Return an independent copy that can be extended without changing the original."""
        arrays = {name: replace(array, elements=dict(array.elements)) for name, array in self.arrays.items()}
        return Gatherings(dict(self.sets), arrays, list(self.tables))
