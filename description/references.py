"""All names that the expressions and tables of a description may use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..language.suggest import alternatives
from .draft import Draft
from .elements import ELEMENTS
from .tables.link import Link
from .types.joints import JOINT_TYPES
from .types.measures import FORCE, spelled

_POINT_QUANTITIES = ("x", "y", "z", "vx", "vy", "vz")
_POINT_ACCELERATIONS = ("ax", "ay", "az")
_COSINES = tuple(f"R{i}{j}" for i in "123" for j in "123")
_FOLLOWER = (
    "add a filter F without the key signal to [[controllers]], set its input F_signal, and use its output"
    " F_output; for the motion of a joint, set input = true in [[motions]]"
)


class References:
    """All names that a description defines.

    Names defined in faulty tables count as known, because only the fault itself should be reported.

    Attributes
    ----------
    links
        Valid links by name; if several links have the same name, the first one.
    all_links
        Names of all links.
    faulty
        Names of links whose joints are unknown because of faults.
    bodies
        Names of possible parents of a link: `ground`, `base` and all links.
    coordinates
        Full names of coordinates, such as `column.angle`.
    """

    def __init__(self, draft: Draft) -> None:
        self.links: dict[str, Link] = {}
        for link in draft.chain.links:
            self.links.setdefault(link.name, link)
        self.all_links = list(dict.fromkeys(name for _, name in draft.names("links")))
        self.faulty = set(self.all_links) - set(self.links)
        self.points = [name for _, name in draft.names("points")]
        self.framed = [name for name in self.points if _has_axes(draft.data["points"][name])]
        self.parameters = [name for _, name in draft.names("parameters")]
        self.has_base = "base" in draft.data
        self._inputs = draft.chain.inputs
        self._driven = {name: output.replace(".", "_") for name, output in draft.chain.driven.items()}
        self.bodies = list(dict.fromkeys(["ground", *["base"] * self.has_base, *self.all_links]))
        self.coordinates = list(self._coordinates())
        by_law = dict(_by_law(draft))
        self.measured = dict(self._measured(draft)) | by_law
        self._forces = {name for name, other in self.measured.items() if other.endswith(f".{FORCE}")} | {*by_law}
        self._in_expressions = dict.fromkeys(self._quantities())
        self._accelerations = dict.fromkeys(self._second_rates())

    def _measured(self, draft: Draft) -> Iterator[tuple[str, str]]:
        """Yield two names of each measured quantity: the name in expressions and the name in equations."""
        for kind in ("line", "contact"):
            for _, name in draft.names(f"{kind}s"):
                yield from spelled(kind, name).items()
        for name in _one_sided(draft.data.get("base")):
            yield from spelled("support", name).items()

    def _coordinates(self) -> Iterator[str]:
        if self.has_base:
            yield from (f"base.{motion.coordinate}" for motion in JOINT_TYPES["free"])
        for link in self.links.values():
            yield from (f"{link.name}.{motion.coordinate}" for motion in JOINT_TYPES[link.joint.type])
            for r in range(1, link.beam.count if link.beam else 1):
                yield from (f"{link.name}.r{r}_{motion.coordinate}" for motion in JOINT_TYPES["spherical"])

    def _quantities(self) -> Iterator[str]:
        yield from ("t", "pi", *self.parameters)
        yield from (f"{point}.{quantity}" for point in self.points for quantity in _POINT_QUANTITIES)
        yield from (f"{name}{suffix}" for name in self._moving() for suffix in ("", "_dot"))
        yield from self.measured

    def _moving(self) -> Iterator[str]:
        """Yield the name of each quantity whose time derivative has the same name with the suffix `_dot`."""
        yield from (f"{point}.{cosine}" for point in self.framed for cosine in _COSINES)
        yield from self.coordinates

    def _second_rates(self) -> Iterator[str]:
        yield from (f"{point}.{quantity}" for point in self.points for quantity in _POINT_ACCELERATIONS)
        yield from (f"{name}_ddot" for name in self._moving())

    def is_force(self, name: str) -> bool:
        """Whether a name in an expression denotes a force, or another quantity that depends on forces."""
        return name in self._forces

    def kind(self, name: str) -> str:
        """Return a phrase for error messages that classifies a name: `a force` or `an output of a controller`."""
        return "an output of a controller" if self.measured.get(name, "").endswith(".output") else "a force"

    def expression_problem(self, name: str, order: int = 0) -> str | None:
        """Return an error message if an expression must not contain a name, else None.

        Parameters
        ----------
        name
            Name in the expression.
        order
            Order of the programmed constraint: only a constraint of order 2 may contain accelerations.
        """
        owner = name.partition(".")[0]
        if name in self._in_expressions or owner in self.faulty:
            return None
        if name in self._accelerations:
            return (
                None if order == 2 else f"{name!r} is an acceleration, known in [[programmed]] of order = 2 only"
            )
        if owner in self.points and name.partition(".")[2].split("_")[0] in _COSINES:
            return f"{name!r} refers to axes that point {owner} does not have; {axes_for(owner)}"
        if name in self._inputs:
            return f"{name!r} is an input, and expressions cannot contain inputs; {self._instead_of(name)}"
        known = [*self._in_expressions, *(self._accelerations if order == 2 else ())]
        own = [other for other in known if other.startswith(f"{owner}.")]
        return f"unknown name {name!r}; {alternatives(name, own or known)}"

    def _instead_of(self, name: str) -> str:
        """Return the remedy for an expression that contains an FMU input, for error messages.

        The remedy is the controller output that drives this input, or a filter whose input the FMU input
        sets.
        """
        return f"use {self._driven[name]}, which drives this input" if name in self._driven else _FOLLOWER


def axes_for(point: str) -> str:
    """Return the advice to add the key `rpy`, which defines axes at a point."""
    return f"add the key rpy to points.{point} ([0.0, 0.0, 0.0] for the axes of its link)"


def _has_axes(point: Any) -> bool:
    return isinstance(point, dict) and "rpy" in point


def _by_law(draft: Draft) -> Iterator[tuple[str, str]]:
    """Yield two names of each quantity that a law in the package `laws` computes.

    Expressions use the first name, and equations use the second name.
    """
    for key, table in ELEMENTS.items():
        for _, name in draft.names(key):
            yield from table.spelled(name).items()


def _one_sided(base: Any) -> Iterator[str]:
    """Yield the names of unilateral supports; the table may have faults."""
    supports = base.get("supports") if isinstance(base, dict) else None
    for i, support in enumerate(supports if isinstance(supports, list) else (), start=1):
        if isinstance(support, dict) and support.get("one_sided") is True:
            yield str(support.get("name") or f"support{i}")
