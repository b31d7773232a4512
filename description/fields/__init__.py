"""Field types and annotations for the keys in the tables of a description."""
