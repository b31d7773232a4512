/* Which inner solver suits the model, for METHOD_AUTOMATIC. */

#ifndef SOLVER_CHOICE_H
#define SOLVER_CHOICE_H

#include "model.h"

Method choose_method(Model *model);

#endif
