/* Which inner solver suits the model, for METHOD_AUTOMATIC. */

#ifndef SOLVER_CHOICE_H
#define SOLVER_CHOICE_H

#include "model.h"

/* At the begin of a communication step; belongs to the instance's state. */
Method choose_method(Model *model);

#endif
