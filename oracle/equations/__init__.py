"""Equations of motion with constraint forces, and their solution at one state."""
