"""Spring of 100 N/m between two masses, an FMU 2.0 without memory; `pythonfmu build -f data_law_fmi2.py`."""

from pythonfmu import Fmi2Causality, Fmi2Slave, Real


class Law(Fmi2Slave):
    """Takes two displacements; returns two opposite forces."""

    def __init__(self, **kwargs: object) -> None:
        """Register the variables."""
        super().__init__(**kwargs)
        self.xa = self.xb = self.fa = self.fb = 0.0
        for name in ("xa", "xb"):
            self.register_variable(Real(name, causality=Fmi2Causality.input, start=0.0))
        for name in ("fa", "fb"):
            self.register_variable(Real(name, causality=Fmi2Causality.output))

    def do_step(self, current_time: float, step_size: float) -> bool:
        """Evaluate the spring."""
        self.fb = 100.0 * (self.xa - self.xb)
        self.fa = -self.fb
        return True
