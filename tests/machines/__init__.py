"""Random mechanisms, and Pinocchio's word on each.

tree      a description's tree in Pinocchio
oracle    accelerations by Pinocchio's numbers
tasks     programmed constraints and knife edges, as tables and as the oracle's rows
scales    a description made larger or heavier
families  the random mechanisms
runs      random mechanisms to run, right and spoiled
equipment  what else a description may have, put on them
derivations  reference and equations held against each other on these
trial     the package's own answers held against the oracle's
"""
