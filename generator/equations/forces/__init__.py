"""Generalised forces: supports, springs, applied forces, friction."""
