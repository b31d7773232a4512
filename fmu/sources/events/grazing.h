/* Switching conditions that change and change back within a step of an inner solver, which is not visible at its
   ends. */

#ifndef GRAZING_H
#define GRAZING_H

#include "model.h"

#include <stddef.h>

/* Repeats a step of a solver from its begin to `end`, the new current time. */
typedef bool (*StepTo)(Model *model, double end, const void *step);

size_t grazing_memory(void); /* doubles at the end of model->memory */

/* After a step from `begin` to the current time with constant switches. *found: whether a condition changes in
   between and changes back before the end. The model is then at this time, otherwise at the end of the step. */
bool grazing_find(Model *model, double begin, StepTo step_to, const void *step, bool *found);

void grazing_forget(Model *model); /* for events, after which indicators have other slopes */

#endif
