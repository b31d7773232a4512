/* One long step across a singular configuration, where short ones would lose the branch of the motion. */

#ifndef LEAP_H
#define LEAP_H

#include "integrator.h"

size_t leap_scratch(void); /* numbers in model->solver */

/* After a step has come into a singular neighbourhood: goes back to the last point before it, and sets model->leap_at, the
   time from which the leap is to begin. INFINITY: the constraints do not come to depend on each other. */
bool leap_plan(Model *model);

/* From model->leap_at, where the model stands: across, but not beyond `limit`. *done: false if that is too near, or if
   the constraints do not come to depend on each other; the model stands where it stood. */
bool leap_across(Model *model, double limit, int32_t *budget, bool *done);

/* Its polynomial is that of the leap. */
extern const Integrator leaping;

#endif
