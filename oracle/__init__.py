"""Second, independent derivation of a mechanism's motion from its description.

The package has its own parser, bodies, tables of joints and closures, and formulas of beams and
paths, independent of the code that generates models. The input is the description as plain
tables. The initial state and the choices of the generator are further input data.
"""
