/* What keeps a model valid where a step is complete: a projection if one is due, then the model's own checks of its
   constraints, which a violated row fails that nothing puts back. */

#ifndef CHECKS_H
#define CHECKS_H

#include "model.h"

/* At the end of the initialisation: what only the start must keep. */
bool model_check_start(Model *model);

/* At the start, after a step of an inner solver, in an event. *moved: whether a projection has. */
bool model_settle(Model *model, bool *moved);

/* Before the first step of the importer's solver after an event. */
bool model_begin_steps(Model *model);

/* After a step of the importer's solver. *due: an event has to follow, for a projection or a relation that the importer
   has not noticed; else it is settled. */
bool model_complete_step(Model *model, bool *due);

#endif
