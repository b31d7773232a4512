"""Force elements in numbers: generalised forces, joint friction and joint reactions."""
