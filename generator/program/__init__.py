"""Equations of a model as a program: definitions and linear systems as array expressions, in the
order of evaluation.
"""
