"""Reference solver: an independent Python solver with which other results are compared.

The equations of motion are formed with 4×4 homogeneous transforms and integrated over time.
"""
