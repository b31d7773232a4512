"""Names of the force elements, in the order of their evaluation.

Each name is a module of `generator.equations.forces` and of `reference.forces`. A new element that
has a table in `description.elements` and a law in `laws` needs no entry here, because `by_law`
contains all such elements.
"""

FORCE_ELEMENTS = (
    "joint_springs",
    "supports",
    "replacement_joints",
    "applied_forces",
    "lines",
    "stops",
    "contacts",
    "by_law",
)
