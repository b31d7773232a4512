"""Arrays and `for` equations in the Modelica source, gathered from the scalar definitions of a
program.
"""
