"""Runs of FMUs and of the Modelica source, and their comparison with the reference solver."""
