"""Motors whose effort is proportional to a current, with a limit."""

from __future__ import annotations

from typing import Annotated, ClassVar

from ..fields.elements import Command, Element, Expression, JointName, Quantity, number
from ..fields.numbers import AnyNumber
from ..types.bounds import POSITIVE


class Motor(Element):
    """Motor on the coordinate of a joint: effort = constant·current, limited in both directions."""

    measures: ClassVar = {"force": Quantity("{effort}", "effort of motor {name} on the joint coordinate")}

    joint: JointName
    """The joint's link such as `slide`, or `wrist.psi` where the joint has several coordinates."""
    constant: Annotated[AnyNumber, *number("{effort}/A", "effort of motor {name} per unit current")]
    """Effort per current, N/A or N·m/A; negative where a positive current drives the coordinate down."""
    limit: Annotated[AnyNumber, *number("{effort}", "largest effort of motor {name}", POSITIVE)]
    """Largest effort either way, N or N·m."""
    current: Annotated[Expression | None, Command("A", "current of motor {name}")] = None
    """Expression, A; without it the FMU's user gives it, as the input `<name>_current`."""
