"""The motor of the slewing drive with its winding as an FMU 2.0: voltage and speed to torque.

Build it with `pythonfmu build -f electric_drive.py --handle-state`; with its state saved, steps can be repeated.
"""

from math import exp

from pythonfmu import Fmi2Causality, Fmi2Slave, Real

RATIO = 100.0  # of the gear, as in motor.py
K = 1.0  # V s/rad, N·m/A, as in motor.py
R = 0.5  # Ω, as in motor.py
L = 0.005  # H; chosen, so that the current follows the voltage within 10 ms


class ElectricDrive(Fmi2Slave):
    """Winding of the motor; the inertia of the rotor is the armature of the plant's joint."""

    description = "Motor with winding and gear for the crane's slewing joint"

    def __init__(self, **kwargs: object) -> None:
        """Register the variables."""
        super().__init__(**kwargs)
        self.voltage = 0.0
        self.column_angle_dot = 0.0
        self.current = 0.0
        self.slewing = 0.0
        self.register_variable(Real("voltage", causality=Fmi2Causality.input, start=0.0))
        self.register_variable(Real("column_angle_dot", causality=Fmi2Causality.input, start=0.0))
        self.register_variable(Real("current", causality=Fmi2Causality.output))
        self.register_variable(Real("slewing", causality=Fmi2Causality.output))

    def do_step(self, current_time: float, step_size: float) -> bool:
        """Advance L di/dt = u - K RATIO ω - R i, exactly for a constant voltage u and speed ω."""
        steady = (self.voltage - K * RATIO * self.column_angle_dot) / R
        self.current = steady + (self.current - steady) * exp(-R / L * step_size)
        self.slewing = RATIO * K * self.current
        return True
