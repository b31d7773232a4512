/* Exact derivatives of states, derivatives and outputs, by sweeps over the generated stages.

   They are taken where the model stands, for constant switches, and along the branch of each expression that is
   taken there: at a kink of abs, min, max, sign or an `if` they are those of one side. */

#ifndef DERIVATIVES_H
#define DERIVATIVES_H

#include "model.h"

#include <stddef.h>

/* Whether there are derivatives of these unknowns with respect to these knowns: what is checked before a sweep. */
bool model_expect_derivatives(Model *model, const unsigned *unknowns, size_t n_unknowns, const unsigned *knowns,
                              size_t n_knowns);

/* sensitivity = J seed for J = d unknowns / d knowns. unknowns and knowns: value references, n_unknowns and n_knowns
   of them, as many numbers in `sensitivity` and `seed`. Unknowns: states, derivatives, outputs. Knowns: the time,
   states, inputs; in initialization mode parameters too, which take the start states with them. */
bool model_directional_derivative(Model *model, const unsigned *unknowns, size_t n_unknowns, const unsigned *knowns,
                                  size_t n_knowns, const double *seed, double *sensitivity);

/* sensitivity = (transpose of J) seed: n_knowns numbers from n_unknowns numbers. */
bool model_adjoint_derivative(Model *model, const unsigned *unknowns, size_t n_unknowns, const unsigned *knowns,
                              size_t n_knowns, const double *seed, double *sensitivity);

/* Rates of change, per second, of states and outputs along the solution, while inputs stay what they are.
   references: n value references; rates: n numbers. */
bool model_output_rates(Model *model, const unsigned *references, size_t n, double *rates);

/* d derivatives / d states, n_states x n_states, column-major; `slopes`: d derivatives / d time, with the inputs
   changing at the rates `input_rates` (n_inputs). */
bool model_jacobian(Model *model, const double *input_rates, double *jacobian, double *slopes);

#endif
