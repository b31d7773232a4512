"""Options of each command, defined once for the command line and for Python."""
