"""Arrays and `for` equations in the Modelica source, formed from the scalar definitions of a program."""
