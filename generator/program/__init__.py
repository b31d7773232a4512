"""The equations as a program: array expressions and the order they are computed in."""
