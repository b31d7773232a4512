"""Co-simulation of a machine in parts: systems of FMUs, coupling methods and the verdict on a coupling."""
