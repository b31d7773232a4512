"""Quantities at one state: accelerations, joint loads, unique reactions, modes."""
