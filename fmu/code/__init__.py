"""Generated C code of an FMU: evaluation stages, their derivatives and dependencies, and tables."""
