/* Relations that change and change back within one step of an inner solver: what both ends of it do not show. */

#ifndef GRAZING_H
#define GRAZING_H

#include "model.h"

#include <stddef.h>

/* Takes a step of a solver again, from its begin to `end`, where the model stands afterwards. */
typedef bool (*StepTo)(Model *model, double end, const void *step);

size_t grazing_memory(void); /* numbers at the end of model->memory */

/* After a step from `begin` to where the model stands, both under the same switches. *found: whether at some time between
   a relation is beyond that is not so at the end. There the model stands then, else where it stood. */
bool grazing_find(Model *model, double begin, StepTo step_to, const void *step, bool *found);

void grazing_forget(Model *model); /* in an event: indicators go on with other slopes */

#endif
