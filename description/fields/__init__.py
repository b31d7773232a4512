"""Field types that all tables of a description share."""
