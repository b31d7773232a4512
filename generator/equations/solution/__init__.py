"""Solution of the equations of motion: accelerations, multipliers, joint reactions and projections."""
