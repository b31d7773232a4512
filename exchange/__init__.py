"""Conversion to and from other formats: URDF (robot descriptions) and SSP (systems of FMUs)."""
