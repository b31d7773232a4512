"""Simulation in the browser: the FMU as WebAssembly, and the page that drives it."""
