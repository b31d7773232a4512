"""The tables of a description, one file each."""
