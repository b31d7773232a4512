/* Keeps the states on the constraints by projection: for solvers after an accepted step, for the FMI layers where a
   step of the importer's solver is complete and in the event that follows. */

#ifndef PROJECTION_H
#define PROJECTION_H

#include "model.h"

int projection_levels(void); /* N_LEVELS; 0: there is no projection in the model */

/* *due: whether a violation exceeds the setting projection_tolerance. Never without a projection in the model, or
   where the setting projection is 0. */
bool model_projection_due(Model *model, bool *due);

/* At the end of the initialisation. A start that violates the constraints stays as it is: nothing is projected until
   stabilisation has brought the states back. */
bool model_begin_projection(Model *model);

/* If it is due, puts positions and velocities back on the constraints. *moved: whether it did. If that fails, the
   states are as before. */
bool model_project(Model *model, bool *moved);

#endif
