"""Work of each command, independent of the command line: one file per task."""
