/* Whether a run keeps its branch of motion where constraints depend on each other for an instant. */

#ifndef BRANCH_H
#define BRANCH_H

#include "model.h"

/* Numbers in model->branch. */
size_t branch_scratch(void);

/* Forgets what is known of earlier steps: a new run, other states, or forces that jump. */
void branch_forget(Model *model);

/* To the last point before a singular neighbourhood, which is known. */
void branch_go_back(Model *model);

/* After an accepted step; model->leap_is_due: it has come into a singular neighbourhood that can be crossed in one step
   from before it (leap.h). Fails where velocities have changed across a singular configuration as no acceleration
   explains: the run has left its branch. */
bool branch_is_kept(Model *model);

#endif
