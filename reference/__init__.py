"""Independent reference solver: the papers' 4×4 formulas, no code shared with the generator's equations."""

from .balance import Energy, energy
from .evaluation import evaluate
from .gpme import choose_dependent
from .kinematics import poses
from .model import Evaluation, Model
from .reachability import unreachable
from .simulation import simulate
from .statics import equilibrium, start_state
from .target import programmed_target

__all__ = [
    "Energy",
    "Evaluation",
    "Model",
    "choose_dependent",
    "energy",
    "equilibrium",
    "evaluate",
    "poses",
    "programmed_target",
    "simulate",
    "start_state",
    "unreachable",
]
