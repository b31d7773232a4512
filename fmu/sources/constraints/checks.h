/* What must hold at the start and where a step is complete: the model's own checks of its constraints. */

#ifndef CHECKS_H
#define CHECKS_H

#include "model.h"

bool model_check(Model *model); /* false, with the failed check's message */

#endif
