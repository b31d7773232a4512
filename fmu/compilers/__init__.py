"""C compilers, and the platforms that they build for."""
