"""Reports of runs, studies and sweeps: pages, tables, figures and films."""
