"""Tasks that the commands execute, independent of the command line: one module per task."""
