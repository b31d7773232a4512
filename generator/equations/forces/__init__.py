"""Force elements, such as springs, contacts, applied forces and friction, and their generalised forces."""
