"""Constraint equations, the rank of their Jacobian, and the choice of independent equations."""
