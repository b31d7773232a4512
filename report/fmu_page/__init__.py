"""Documentation inside an FMU: page, pictures of the mechanism, licences, Modelica source."""
