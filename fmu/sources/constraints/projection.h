/* Projection of the states onto the constraints: for inner solvers after an accepted step, and in the FMI functions
   after a complete step of the importer's solver and in the event that follows. */

#ifndef PROJECTION_H
#define PROJECTION_H

#include "model.h"

int projection_levels(void); /* N_LEVELS; 0: the model has no projection */

/* *due: whether a violation exceeds the setting projection_tolerance; false if the model has no projection or the
   setting projection is 0. */
bool model_projection_due(Model *model, bool *due);

/* Prepares projections at the end of the initialisation. An initial state that violates the constraints remains
   unchanged: no projection takes place until stabilisation has reduced the violation. */
bool model_begin_projection(Model *model);

/* Projects positions and velocities onto the constraints if necessary. *moved: whether the states have changed. On
   failure, the states are unchanged. */
bool model_project(Model *model, bool *moved);

#endif
