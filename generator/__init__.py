"""Description → mechanism → equations (array IR) → Modelica text and CasADi functions."""
