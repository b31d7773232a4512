/* Validity of the model after a complete step: projection if necessary, then the model's own checks of its
   constraints. A violated constraint that no projection corrects fails its check. */

#ifndef CHECKS_H
#define CHECKS_H

#include "model.h"

/* Evaluates the checks of the initial state, at the end of the initialisation. */
bool model_check_start(Model *model);

/* Completes the initialisation, a step of an inner solver or an event. *moved: whether a projection has changed the
   states. */
bool model_settle(Model *model, bool *moved);

/* Prepares the first step of the importer's solver after an event. */
bool model_begin_steps(Model *model);

/* Completes a step of the importer's solver. *due: an event must follow, for a projection or a switching condition
   that the importer has not noticed; otherwise the step is complete. */
bool model_complete_step(Model *model, bool *due);

#endif
