/* Automatic choice of the inner solver, for METHOD_AUTOMATIC. */

#ifndef SOLVER_CHOICE_H
#define SOLVER_CHOICE_H

#include "model.h"

/* Returns the method at the begin of a communication step; the choice is part of the FMU state. */
Method choose_method(Model *model);

#endif
