"""Which part of a description something in the equations comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Quantity = Literal["position", "velocity", "acceleration", "bristle", "effort", "load", "force", "violation"]


@dataclass(frozen=True)
class Origin:
    """An entry of the description, or a step of the derivation.

    kind     `base`, `link`, `point`, `closure`, `knife edge`, `applied force`, … or the step: `accelerations`
    name     of the entry; empty where there is one of the kind alone
    element  of a flexible link, `r1`, …
    """

    kind: str
    name: str = ""
    element: str = ""

    def __str__(self) -> str:
        """As headings have it."""
        entry = f"{self.kind} {self.name}" if self.name else self.kind
        return f"{entry}, element {self.element}" if self.element else entry


@dataclass(frozen=True)
class Signal:
    """What a state or output is.

    origin     the part that it belongs to; of a coordinate `Origin("coordinate", "column.angle")`
    component  `x`, `y`, `z` of a vector; of a load `fx` … `nz`, `axial`, `normal`; of a violation its level
    """

    quantity: Quantity
    origin: Origin
    component: str = ""
