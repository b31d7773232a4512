"""Time integration of the equations of motion: first-order system, integrators and events."""
