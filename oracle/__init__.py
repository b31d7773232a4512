"""Independent second derivation of a mechanism's motion from its description.

The package shares neither parser, bodies, tables of joints and closures nor formulas of beams and paths
with the code that generates models. Its input is the description as plain tables; the initial state and
the choices of the generator are data.
"""
