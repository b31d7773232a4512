"""Equations of motion a second time, by the papers' 4×4 transforms, and their integration over time."""
