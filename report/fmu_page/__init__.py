"""Files of an FMU for its readers: the page, pictures of the mechanism, licences, Modelica source."""
