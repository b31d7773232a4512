"""One machine as several FMUs in an archive of the standard SSP (System Structure and Parameterization)."""
