/* Check that a run does not change its branch of motion at a singular configuration. */

#ifndef BRANCH_H
#define BRANCH_H

#include "model.h"

/* Size of model->branch, doubles. */
size_t branch_scratch(void);

/* Discards data about earlier steps: before a new run, after a change of states, and after a discontinuity of forces. */
void branch_forget(Model *model);

/* Returns to the last point before a singular neighbourhood, which must be known. */
void branch_go_back(Model *model);

/* Checks the velocities after an accepted step. Sets model->leap_is_due if the step has reached a singular
   neighbourhood that can be crossed in a single step from a point before it (leap.h). Fails if the velocities have
   changed across a singular configuration by more than the accelerations explain, because the run has then changed
   its branch. */
bool branch_is_kept(Model *model);

#endif
