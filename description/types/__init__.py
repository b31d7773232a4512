"""Types of joints, closures, bounds, units and signal names, each as a table of rows."""
