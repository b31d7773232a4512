"""Force elements: one law per file."""
