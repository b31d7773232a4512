"""All cases of a study side by side."""
