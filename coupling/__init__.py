"""Co-simulation of a system of FMUs: coupling methods, simulation master and verdict on the result."""
