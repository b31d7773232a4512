"""FMUs: the native backend, runs, comparison, figures and report."""
