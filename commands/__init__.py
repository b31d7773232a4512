"""What the commands do: each takes a model apart from how its command line looks."""
