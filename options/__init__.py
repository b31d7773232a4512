"""Options of each task, defined once for the command line and for Python."""
