"""The equations integrated over time: first-order system, integrators, events."""
