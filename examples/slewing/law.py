"""The slewing controller's law, the same as the expression in the case `closed` of slewing.toml."""

SWEEP = 0.5  # rad
DURATION = 1.5  # s
STIFFNESS = 4000.0  # N·m/rad
DAMPING = 1500.0  # N·m·s/rad


def reference(t: float) -> float:
    """Angle to follow at t, s; rad: from rest to rest by a polynomial of degree 5."""
    s = min(max(t / DURATION, 0.0), 1.0)
    return SWEEP * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


def torque(t: float, angle: float, rate: float) -> float:
    """Slewing torque, N·m, from the column's angle, rad, and its rate, rad/s."""
    return STIFFNESS * (reference(t) - angle) - DAMPING * rate
