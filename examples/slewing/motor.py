"""The motor of drive.mo with its controller as an FMU 2.0, for the case `shaft`: `pythonfmu build -f motor.py`.

The rotor's inertia is not here: it stands at the plant's joint, as armature.
"""

from math import cos, pi, sin

from pythonfmu import Fmi2Causality, Fmi2Slave, Real

RATIO = 100.0  # of the gear
K = 1.0  # V s/rad, N·m/A
R = 0.5  # Ω
P, I = 4.0, 20.0  # V per rad/s of the motor, and per rad of it
SPEED = 0.2  # rad/s, of the column, twice that at most


def torque(t: float, angle: float, rate: float) -> float:
    """Slewing torque, N·m, from the column's angle, rad, and its rate, rad/s, at t, s."""
    voltage = P * (SPEED * (1.0 - cos(pi * t)) - rate) + I * (SPEED * (t - sin(pi * t) / pi) - angle)
    return RATIO**2 * K / R * (voltage - K * rate)


class Motor(Fmi2Slave):
    """Sampled at the communication points; its variables are named like the plant's, so that they fit together."""

    description = "Motor with gear and PI controller of its speed, for the crane's slewing joint"

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
        self.slewing = torque(current_time + step_size, self.column_angle, self.column_angle_dot)
        return True
