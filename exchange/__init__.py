"""Files of other formats, and descriptions from them: URDF and SSP."""
