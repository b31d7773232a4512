"""Functions that derive the equations of motion of a mechanism and write them as Modelica source."""
