"""Accelerations from the equations of motion, consistent initial states, and coordinate partitions."""
