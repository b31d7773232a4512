/* Interface of the inner solvers of the co-simulation, and their common parts. */

#ifndef INTEGRATOR_H
#define INTEGRATOR_H

#include "event_location.h"
#include "model.h"

#include <stddef.h>

enum { MOST_DEGREE = 5 };

/* Interpolation polynomial of the states in (time - origin) / length. */
typedef struct {
    double origin, length; /* origin and length, s */
    int degree;
    const double *slope; /* n_states derivatives at the end of the last step; NULL: unknown */
} Polynomial;

typedef struct {
    int vectors; /* scratch memory in model->solver, in vectors of n_states numbers */
    int matrices; /* scratch memory in n_states x n_states matrices */
    size_t (*memory)(void); /* doubles in model->memory that persist between steps; NULL: none */
    /* Integrates from the current time to `end` or beyond, but not beyond `limit`. If `limit` is `end`, integration
       stops exactly there. It stops earlier, after an accepted step, if model->end has become less than `end` or an
       event is due. The switches are constant. Each attempted step decreases *budget, and an empty budget is an
       error. On failure, the current time and states are those of a trial point. */
    bool (*advance)(Model *model, double end, double limit, int32_t *budget);
    /* Computes the states within the last step of `advance`, as vectors of n_states coefficients. The current point
       is undefined afterwards. NULL: the solver has no polynomial, and `limit` must be `end`. */
    bool (*polynomial)(Model *model, double *const *coefficients, Polynomial *found);
    double worth; /* communication steps per inner step above which the solver may pass the communication point */
} Integrator;

double integrator_longest_step(const Model *model); /* maximum step size from the current point, s */
bool integrator_spend_step(Model *model, int32_t *budget);
/* Whether integration must continue to `end`. */
bool integrator_goes_on(const Model *model, double end);
/* Completes a step from time `begin`, which step_to can repeat: shortens the step at an event, projects the states
   onto the constraints, evaluates the checks, and records the time as successful. */
bool integrator_accept_step(Model *model, double begin, StepTo step_to, const void *step);

#endif
