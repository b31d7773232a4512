"""Backends that build FMUs: the native C code generator and OpenModelica."""
