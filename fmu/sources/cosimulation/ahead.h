/* Where the inner solver is beyond the communication point: the model stands on the polynomial of its last step there,
   and goes on from where the solver is, if nothing has changed in between. */

#ifndef AHEAD_H
#define AHEAD_H

#include "integrator.h"

#include <stddef.h>

size_t ahead_memory(void); /* numbers, before those of grazing.h at the end of model->memory */

/* At the begin of a communication step: whether the solver may go beyond its end. Not where inputs move or have
   just changed: then they do so again, and the rest of a step would be in vain. */
bool ahead_is_worthwhile(const Model *model);

/* Whether the solver is ahead, under conditions that still hold, and has passed `end` or come to it. */
bool ahead_covers(const Model *model, double end);

/* From where the solver is, beyond `end`, by its method: notes all that, and moves the model to `end`. */
bool ahead_leave(Model *model, double end, const Integrator *integrator);

bool ahead_show(Model *model, double end); /* moves the model to a time that is covered, if it can be evaluated there */

/* Moves the model to where the solver is, if it is ahead, though not at `end` yet, and the conditions still hold. It is
   not ahead any more, and the inputs are those of a communication step that has begun. */
bool ahead_resume(Model *model, double end);
const double *ahead_slope(const Model *model); /* n_states rates where it has resumed; NULL: not known */

#endif
