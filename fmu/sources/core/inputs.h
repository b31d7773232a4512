/* Inputs between communication points: polynomials of time by the derivatives that the importer gives, or its answers
   to model->inputs_wanted, which FMI 3.0 has in their place. */

#ifndef INPUTS_H
#define INPUTS_H

#include "model.h"

/* Derivative of an input (value reference) at the begin of the next communication step, for that step alone;
   order: 1 to INPUT_ORDERS. Without any an input is constant. */
bool model_set_input_derivative(Model *model, unsigned reference, int order, double value);

void inputs_begin_step(Model *model);         /* the polynomials start from where the model stands */
void inputs_follow(Model *model, double time); /* sets the inputs to their values then, during a step */
void inputs_end_step(Model *model, bool done); /* done: the derivatives are used up */
bool inputs_are_moving(const Model *model);     /* during the step that has begun */
const double *inputs_rates(Model *model);     /* n_inputs: 1/s, where the model stands */

#endif
