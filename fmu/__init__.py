"""FMUs: generated C code, archive, C compilers, and the backends that build them."""
