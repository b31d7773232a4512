"""Solution of the constrained equations of motion: accelerations, multipliers, joint reactions and
projections.
"""
