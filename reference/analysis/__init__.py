"""Runs, and what is found out about a mechanism: modes, reactions, what cannot be reached."""
