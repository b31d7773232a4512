/* One communication step of the co-simulation. */

#ifndef COSIMULATION_H
#define COSIMULATION_H

#include "model.h"

/* Whether a step from `point`, where the model must stand, by `size` seconds makes sense; the standards allow none of
   size 0 (FMI 2.0.4 and 3.0.2, 4.2). */
bool cosimulation_check(Model *model, double point, double size);

/* Integrates by `size` seconds, or less where model->stop_at_events or model->step_accepted ends the step earlier. If
   that fails, the model stands at `point` as before, and run.last_successful_time says how far the solver came. */
bool cosimulation_step(Model *model, double point, double size);

#endif
