/* Communication step of the co-simulation. */

#ifndef COSIMULATION_H
#define COSIMULATION_H

#include "model.h"

/* Whether a step from `point`, which must be the model's time, by `size` seconds is valid; size 0 is not permitted
   (FMI 2.0.4 and 3.0.2, section 4.2). */
bool cosimulation_check(Model *model, double point, double size);

/* Integrates by `size` seconds, or less if model->stop_at_events or model->step_accepted ends the step earlier. On
   failure, the model is at `point` again, and run.last_successful_time is the time that the solver has reached. */
bool cosimulation_step(Model *model, double point, double size);

#endif
