"""Generalised forces of force elements, such as springs, contacts, applied forces and friction."""
