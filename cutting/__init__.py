"""Division of one mechanism into several FMUs.

SSP archives (System Structure and Parameterization) connect these FMUs.
"""
