"""Force elements of the oracle, one force law per module."""
