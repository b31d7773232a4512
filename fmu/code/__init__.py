"""The generated C: a program cut into stages, their derivatives and dependencies, and tables."""
