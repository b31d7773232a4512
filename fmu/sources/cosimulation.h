/* One communication step of the co-simulation. */

#ifndef COSIMULATION_H
#define COSIMULATION_H

#include "model.h"

/* Integrates from `point`, where the model must stand, by `size` seconds (0: nothing happens). If that fails, the
   model stands at `point` as before, and run.last_successful_time says how far the solver came. */
bool cosimulation_step(Model *model, double point, double size);

#endif
