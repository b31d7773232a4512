"""Generalised forces, friction, joint loads."""
