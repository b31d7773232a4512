"""Definitions of joint types, closure types, bounds, units and signal names, in tabular form."""
