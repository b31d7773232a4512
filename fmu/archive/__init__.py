"""Documents in an FMU's archive: model description, terminals and licences; validation of the
archive.
"""
