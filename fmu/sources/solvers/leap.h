/* A single long step across a singular configuration, where short steps would lose the branch of the motion. */

#ifndef LEAP_H
#define LEAP_H

#include "integrator.h"

size_t leap_scratch(void); /* doubles in model->solver */

/* After a step into a singular neighbourhood: returns to the last point before it, and sets model->leap_at, the time
   at which the leap must begin. INFINITY: the configuration does not become singular. */
bool leap_plan(Model *model);

/* Crosses the singular configuration from model->leap_at, the current time, but not beyond `limit`. *done: false if
   the limit is too near or the configuration does not become singular; the model is then unchanged. */
bool leap_across(Model *model, double limit, int32_t *budget, bool *done);

/* The interpolation polynomial is that of the leap. */
extern const Integrator leaping;

#endif
