"""Names of the kinds of force elements, in the order of their evaluation.

Each name is a module in `generator.equations.forces` and in `reference.forces`. The single name
`by_law` represents all elements with a table in `description.elements` and a law in `laws`. If a
new element has such a table and law, this list needs no new name.
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
