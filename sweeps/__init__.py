"""Sweeps: many runs of one machine with other numbers, on all cores or on a cluster; those that end early go on.

variations     what is varied, and by which distributions
points         the values of every run: grids and samples
structures     what has to be compiled, and which parameters of it are set
objectives     what is asked of a run
gathered       what is wrong with the arguments, all at once
runs           a worker's part: runs in an instance that is used again
pools          processes of this machine, or a Dask cluster
parts          results on disk, as they come
results        the table and the array file
sensitivities  what the objectives depend on
"""
