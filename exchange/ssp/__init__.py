"""Systems of FMUs as SSP archives."""
