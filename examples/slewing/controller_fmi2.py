"""The slewing controller as an FMU 2.0, for masters without FMI 3.0.

Build it with `pythonfmu build -f controller_fmi2.py law.py`.
"""

import law
from pythonfmu import Fmi2Causality, Fmi2Slave, Real


class Controller(Fmi2Slave):
    """Sampled at the communication points; its variables are named like the plant's, so that they fit together."""

    description = "Slewing drive of the crane"

    def __init__(self, **kwargs: object) -> None:
        """Registers the variables."""
        super().__init__(**kwargs)
        self.column_angle = 0.0
        self.column_angle_dot = 0.0
        self.slewing = 0.0
        self.register_variable(Real("column_angle", causality=Fmi2Causality.input, start=0.0))
        self.register_variable(Real("column_angle_dot", causality=Fmi2Causality.input, start=0.0))
        self.register_variable(Real("slewing", causality=Fmi2Causality.output))

    def do_step(self, current_time: float, step_size: float) -> bool:
        """The torque for the next step."""
        self.slewing = law.torque(current_time + step_size, self.column_angle, self.column_angle_dot)
        return True
