"""Tasks behind the commands, without command lines: one file per task."""
