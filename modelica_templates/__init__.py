"""Jinja2 templates of the Modelica text: layout only."""
