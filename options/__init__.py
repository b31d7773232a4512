"""Options of each task: names, types, defaults and help, once for the command line and for Python."""
