"""Generator of an FMU's C code: evaluation stages, their derivatives, and constant tables."""
