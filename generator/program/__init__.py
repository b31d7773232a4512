"""Equations of a model as a program, in the order of evaluation.

The items of the program are definitions and linear systems, written as array expressions.
"""
