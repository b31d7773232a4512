"""Backends that build FMUs of a model, or run its Modelica source: native, OpenModelica, rumoca."""
