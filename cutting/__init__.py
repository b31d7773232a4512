"""Division of one mechanism into several FMUs, in an SSP archive (System Structure and Parameterization)."""
