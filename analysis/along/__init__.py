"""Analysis over time: simulation, signals, energies and constraint residuals."""
