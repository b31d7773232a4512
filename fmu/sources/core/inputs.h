/* Inputs between communication points: polynomials of time from input derivatives of the importer (FMI 2.0), or
   values from the callback model->inputs_wanted (FMI 3.0). */

#ifndef INPUTS_H
#define INPUTS_H

#include "model.h"

/* Sets a time derivative of an input, identified by value reference, at the begin of the next communication step; it
   applies to this step only. order: 1 to INPUT_ORDERS. Inputs without derivatives are constant. */
bool model_set_input_derivative(Model *model, unsigned reference, int order, double value);

void inputs_begin_step(Model *model);         /* starts the polynomials at the current time */
void inputs_follow(Model *model, double time); /* sets the inputs to their values at a time during a step */
void inputs_end_step(Model *model, bool done); /* done: the derivatives are not used again */
bool inputs_are_moving(const Model *model);     /* whether inputs change during the current step */
const double *inputs_rates(Model *model);     /* n_inputs time derivatives at the current time, per second */

#endif
