"""The sampled controller of the slewing drive as an FMU 2.0: a new voltage every 20 ms, held in between.

Build it with `pythonfmu build -f sampled_controller.py --handle-state`. An FMU 2.0 cannot declare sample times,
so the archive gives the period in an annotation (coupled.ssd).
"""

from math import cos, pi, sin

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real

RATIO = 100.0  # of the gear, as in motor.py
K = 1.0  # V s/rad of the motor, as in motor.py: the voltage of the target speed without a load
P, I = 0.5, 5.0  # V per rad/s of the motor, and per rad of it; those of motor.py are unstable at 20 ms
SPEED = 0.2  # rad/s, of the column, twice that at most


def voltage(t: float, angle: float, rate: float) -> float:
    """Voltage, V, at the sample time t, s, from the column's angle, rad, and its rate, rad/s."""
    target, target_rate = SPEED * (t - sin(pi * t) / pi), SPEED * (1.0 - cos(pi * t))
    return RATIO * (K * target_rate + P * (target_rate - rate) + I * (target - angle))


class SampledController(Fmi2Slave):
    """PI controller of the motor's speed; each call of do_step ends at a sample time."""

    description = "Sampled controller of the slewing drive"

    def __init__(self, **kwargs: object) -> None:
        """Register the variables."""
        super().__init__(**kwargs)
        self.column_angle = 0.0
        self.column_angle_dot = 0.0
        self.voltage = 0.0
        self.register_variable(Real("column_angle", causality=Fmi2Causality.input, start=0.0))
        self.register_variable(Real("column_angle_dot", causality=Fmi2Causality.input, start=0.0))
        held = {"causality": Fmi2Causality.output, "variability": Fmi2Variability.discrete}
        self.register_variable(Real("voltage", **held))

    def do_step(self, current_time: float, step_size: float) -> bool:
        """Sample at the end of the step."""
        self.voltage = voltage(current_time + step_size, self.column_angle, self.column_angle_dot)
        return True
