"""Tables of a description, one file for each group of keys."""
