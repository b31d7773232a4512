/* Stage: function and linear system, and their derivatives. */

#ifndef STAGE_H
#define STAGE_H

#include "model.h"

void stage_compute(Model *model, const Stage *stage); /* evaluates the function without the linear system */
bool stage_solve(Model *model, const Stage *stage);   /* solves the linear system, which must exist */
bool stage_run(Model *model, const Stage *stage);     /* evaluates the function and solves the linear system, if it
                                                         exists */

/* Computes the changes of a stage's results from the changes of its arguments in model->changes. */
void stage_differentiate(Model *model, const Stage *stage);
void stage_forward(Model *model, const Stage *stage);

/* Adds the contributions of a stage to the adjoints of its arguments, from the adjoints of its results. */
void stage_backward(Model *model, const Stage *stage);

/* Whether all pivots of the system in a workspace, which serve as indices, are valid. */
bool stage_has_indices(const Stage *stage, double *workspace);

#endif
