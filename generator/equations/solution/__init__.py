"""Solution of the constrained equations of motion, joint reactions, and projections onto constraints."""
