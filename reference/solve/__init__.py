"""Functions that compute accelerations, consistent initial states and coordinate partitions."""
