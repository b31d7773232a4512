"""Motors whose force or torque is proportional to a current and has a limit."""

from __future__ import annotations

from typing import Annotated, ClassVar

from ..fields.elements import Command, Element, Expression, JointName, Quantity, number
from ..fields.numbers import AnyNumber
from ..types.bounds import POSITIVE


class Motor(Element):
    """Motor on the coordinate of a joint: effort = constant·current, limited in both directions."""

    measures: ClassVar = {"force": Quantity("{effort}", "effort of motor {name} on the joint coordinate")}

    joint: JointName
    """Coordinate of a joint: the link such as `slide`, or `wrist.psi` for a joint with several coordinates."""
    constant: Annotated[AnyNumber, *number("{effort}/A", "effort of motor {name} per unit current")]
    """Effort per current, N/A or N·m/A; negative if a positive current accelerates the coordinate negatively."""
    limit: Annotated[AnyNumber, *number("{effort}", "largest effort of motor {name}", POSITIVE)]
    """Largest effort in both directions, N or N·m."""
    current: Annotated[Expression | None, Command("A", "current of motor {name}")] = None
    """Current, an expression, A; without this key the current is the FMU's input `<name>_current`."""
