"""Types of the fields that all tables of a description share."""
