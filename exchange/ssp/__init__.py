"""Systems of FMUs as archives of the standard SSP (System Structure and Parameterization)."""
