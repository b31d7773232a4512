"""Jinja2 templates that define the layout of the generated Modelica source."""
