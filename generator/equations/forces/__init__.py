"""Generalised forces of all force elements: supports, springs, contacts, applied forces and
friction.
"""
