/* Runs the generated stages: each group at most once after something it depends on has changed. */

#ifndef EVALUATION_H
#define EVALUATION_H

#include "model.h"

bool model_evaluate(Model *model, Group last);         /* runs the dirty groups up to and including `last` */
bool model_evaluate_beside(Model *model, Group group); /* runs one of the groups after OUTPUTS */
bool model_derivatives(Model *model, double *values);  /* evaluates; copies to n_states values */

/* Whether the numbers of a workspace that serve as indices, the pivots of the systems, are ones. */
bool model_are_indices(double *workspace);

#endif
