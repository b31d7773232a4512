"""Reference solver: independent equations of motion by 4×4 transforms, and their time integration."""
