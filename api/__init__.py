"""Public Python interface: models, simulations, sweeps, optimisation, and import and export of
files.
"""
