"""Expressions of the description with their derivatives, lookup tables and switching conditions."""
