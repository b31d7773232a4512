"""Force elements: what acts on a mechanism's bodies and coordinates.

A row is a module of this name in `generator.equations.forces` and one in `reference.forces`. A new element needs
no row: `by_law` is all elements whose table is in `description.elements` and whose law is in `laws`.
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
