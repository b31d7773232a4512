"""What each command does, without its command line: one file per task."""
