/* Inner solver beyond the communication point: the model shows the polynomial of the solver's last step at the
   communication point, and the solver continues from its own time if nothing has changed in between. */

#ifndef AHEAD_H
#define AHEAD_H

#include "integrator.h"

#include <stddef.h>

size_t ahead_memory(void); /* doubles in model->memory, before those of grazing.h at its end */

/* Whether the solver may pass the end of a communication step that begins. It must not if inputs change or have just
   changed, because they are then likely to change again, which would make the rest of the step useless. */
bool ahead_is_worthwhile(const Model *model);

/* Whether the solver is ahead under conditions that are unchanged, and has reached or passed `end`. */
bool ahead_covers(const Model *model, double end);

/* Stores the solver's point beyond `end` and its polynomial, and moves the model to `end`. */
bool ahead_leave(Model *model, double end, const Integrator *integrator);

bool ahead_show(Model *model, double end); /* moves the model to a time that the polynomial covers, if the model can
                                              be evaluated there */

/* Moves the model to the solver's time if the solver is ahead, but not at `end`, and conditions are unchanged.
   Afterwards the solver is no longer ahead, and the inputs are those of the communication step that has begun. */
bool ahead_resume(Model *model, double end);
const double *ahead_slope(const Model *model); /* n_states derivatives at the solver's time after ahead_resume; NULL:
                                                  unknown */

#endif
