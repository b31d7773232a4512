"""SSP archives (System Structure and Parameterization), which contain FMUs and their connections."""
