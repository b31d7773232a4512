"""Import and export of SSP archives (System Structure and Parameterization).

An SSP archive contains FMUs, their parameter values and their connections.
"""
