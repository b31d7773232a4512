"""Second, independent simulation of a mechanism from its description, to check the generated models.

The package has its own parser, kinematics, joints, closures, beams and paths. These share no code
with the generator of models. The inputs are the description as plain tables, and the generator's
initial state and choices.
"""
