"""Utilities without knowledge of mechanisms: errors, files, tables over time, templates,
worker processes.
"""
