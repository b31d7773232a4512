"""Model description, terminals and licences in an FMU's archive, and validation of the archive."""
