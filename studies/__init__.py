"""What makes many runs of one model, from Python and from the command line."""
