/* Exact derivatives of states, state derivatives and outputs, by sweeps over the generated stages.

   Derivatives are evaluated at the current point for constant switches. At a discontinuity of abs, min, max, sign or
   an `if`, they are the one-sided derivatives of the current branch. */

#ifndef DERIVATIVES_H
#define DERIVATIVES_H

#include "model.h"

#include <stddef.h>

/* Whether derivatives of the unknowns with respect to the knowns exist; checked before a sweep. */
bool model_expect_derivatives(Model *model, const unsigned *unknowns, size_t n_unknowns, const unsigned *knowns,
                              size_t n_knowns);

/* Computes sensitivity = J seed with J = d unknowns / d knowns. Unknowns and knowns are value references;
   `sensitivity` has n_unknowns and `seed` n_knowns numbers. Unknowns are states, state derivatives and outputs.
   Knowns are time, states and inputs; in initialization mode also parameters, on which the start states depend. */
bool model_directional_derivative(Model *model, const unsigned *unknowns, size_t n_unknowns, const unsigned *knowns,
                                  size_t n_knowns, const double *seed, double *sensitivity);

/* Computes sensitivity = J' seed: n_knowns numbers from n_unknowns numbers. */
bool model_adjoint_derivative(Model *model, const unsigned *unknowns, size_t n_unknowns, const unsigned *knowns,
                              size_t n_knowns, const double *seed, double *sensitivity);

/* Computes the time derivatives of states and outputs along the solution for constant inputs, per second, for n value
   references. */
bool model_output_rates(Model *model, const unsigned *references, size_t n, double *rates);

/* Computes the Jacobian d derivatives / d states, n_states x n_states, column-major. `slopes` receives d derivatives
   / d time, with inputs that change at the n_inputs rates `input_rates`. */
bool model_jacobian(Model *model, const double *input_rates, double *jacobian, double *slopes);

#endif
