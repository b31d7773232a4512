/* Evaluation of the generated stages: each group is evaluated at most once after a change of its arguments. */

#ifndef EVALUATION_H
#define EVALUATION_H

#include "model.h"

bool model_evaluate(Model *model, Group last);         /* evaluates the dirty groups up to and including `last` */
bool model_evaluate_beside(Model *model, Group group); /* evaluates one of the groups after OUTPUTS */
bool model_derivatives(Model *model, double *values);  /* evaluates the model and copies n_states derivatives to
                                                          `values` */

/* Whether all pivots in a workspace, which serve as indices, are valid. */
bool model_are_indices(double *workspace);

#endif
