"""Analysis of a motion over time: simulation, signals, energies and constraint residuals."""
