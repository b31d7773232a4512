"""What makes FMUs of a model, or runs its Modelica text: native, OpenModelica, rumoca."""
