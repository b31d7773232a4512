"""Force elements: what acts on a mechanism's bodies and coordinates.

To add one: a module of its name in `generator.equations.forces`, one in `reference.forces`, and a row here.
"""

FORCE_ELEMENTS = (
    "joint_springs",
    "supports",
    "replacement_joints",
    "applied_forces",
    "lines",
    "stops",
    "contacts",
)
