"""Bodies, joints and beams of a mechanism, and how they move."""
