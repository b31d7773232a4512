"""The public Python interface: models, their runs, sweeps, optimisation and files of other formats."""
