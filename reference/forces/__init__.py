"""Force elements of the reference solver: generalised forces, joint friction and joint reactions."""
