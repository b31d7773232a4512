"""Second opinion on a mechanism's motion, from its description alone.

Nothing here is shared with the code that makes models: no parser, no bodies, no tables of joints and closures, no
formulas of beams and paths. The description comes as plain tables, production's initial state and choices as data.
"""
