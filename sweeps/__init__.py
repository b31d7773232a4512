"""Parameter sweeps and optimisation: many runs of a mechanism on all cores or on a cluster.

An interrupted sweep can be continued. The modules are:

- `variations`: varied keys, with lists of values or distributions.
- `points`: parameter values of all runs.
- `structures`: FMUs to compile, with the FMU parameters that set the varied keys.
- `objectives`: numbers that are computed from each run.
- `gathered`: one report of all invalid arguments.
- `runs`: execution of runs by a worker, with reused FMU instances.
- `pools`: worker processes of this machine.
- `cluster`: workers of a Dask cluster.
- `parts`: intermediate results on disk.
- `results`: result table and array file.
- `sensitivities`: sensitivities of the objectives to the varied keys.
- `optimize`: search for optimal values.
"""
