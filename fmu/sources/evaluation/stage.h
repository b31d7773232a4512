/* One stage: its function, then its system; their derivatives. */

#ifndef STAGE_H
#define STAGE_H

#include "model.h"

void stage_compute(Model *model, const Stage *stage); /* its function alone */
bool stage_solve(Model *model, const Stage *stage);   /* its linear system alone, which it has */
bool stage_run(Model *model, const Stage *stage);     /* both */

/* From the changes of what the stage depends on, in model->changes, those of its results before the solve; after it. */
void stage_differentiate(Model *model, const Stage *stage);
void stage_forward(Model *model, const Stage *stage);

/* Adds to what changes of what the stage depends on are worth, from what those of its results are. */
void stage_backward(Model *model, const Stage *stage);

/* Whether the numbers of a workspace that serve as indices, the pivots of its system, are ones. */
bool stage_has_indices(const Stage *stage, double *workspace);

#endif
