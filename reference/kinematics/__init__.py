"""Transforms of all bodies with derivatives, and what expressions may name of them."""
