"""Second, independent simulation of a mechanism from its description, to check the generated models.

The package has its own parser, kinematics, joints, loop closures, beams and paths. It shares no code
with the model generator. The inputs are the description as nested dictionaries, and the model
generator's initial state and choices.
"""
