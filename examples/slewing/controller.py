"""The slewing controller as an FMU 3.0; build it with `pythonfmu3 build -f controller.py law.py`."""

import law
from pythonfmu3 import Float64, Fmi3Causality, Fmi3Slave, Fmi3Variability


class Controller(Fmi3Slave):
    """Sampled at the communication points; its variables are named like the plant's, so that they fit together."""

    description = "Slewing drive of the crane"

    def __init__(self, **kwargs: object) -> None:
        """Registers the variables."""
        super().__init__(**kwargs)
        self.time = 0.0
        self.column_angle = 0.0
        self.column_angle_dot = 0.0
        self.slewing = 0.0
        independent = {"causality": Fmi3Causality.independent, "variability": Fmi3Variability.continuous}
        self.register_variable(Float64("time", **independent))
        self.register_variable(Float64("column_angle", causality=Fmi3Causality.input))
        self.register_variable(Float64("column_angle_dot", causality=Fmi3Causality.input))
        self.register_variable(Float64("slewing", causality=Fmi3Causality.output))

    def do_step(self, current_time: float, step_size: float) -> bool:
        """The torque for the next step."""
        self.slewing = law.torque(current_time + step_size, self.column_angle, self.column_angle_dot)
        return True
