"""C compilers, target platforms, and the shared libraries that are built for them."""
