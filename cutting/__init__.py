"""Division of one machine into several FMUs, in an SSP archive (System Structure and Parameterization)."""
