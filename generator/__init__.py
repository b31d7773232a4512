"""Derivation of the equations of motion from a mechanism, and their form as Modelica source."""
