"""Motion over time, and the signals that it gives."""
