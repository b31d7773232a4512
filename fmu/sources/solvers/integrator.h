/* What an inner solver of the co-simulation is, and what all of them share. */

#ifndef INTEGRATOR_H
#define INTEGRATOR_H

#include "event_location.h"
#include "model.h"

#include <stddef.h>

enum { MOST_DEGREE = 5 };

/* Of states, in (time - origin) / length. */
typedef struct {
    double origin, length; /* s */
    int degree;
    const double *slope; /* n_states rates, where the last step ends; NULL: not known */
} Polynomial;

typedef struct {
    int vectors; /* scratch it needs in model->solver, in vectors of n_states numbers */
    int matrices; /* and n_states x n_states matrices */
    size_t (*memory)(void); /* numbers that it keeps in model->memory from step to step; NULL: none */
    /* Integrates from the model's time to `end`, or beyond it, but not beyond `limit`; where that is `end`, the model
       stands at it exactly afterwards. It stops earlier, after an accepted step, if model->end has become less than
       `end` or an event is due. The switches stay constant. Every tried step is taken off *budget; an empty budget is
       an error. On failure the model's time and states are those of some trial point. */
    bool (*advance)(Model *model, double end, double limit, int32_t *budget);
    /* At once after `advance`: the states within its last step, as vectors of n_states coefficients; the model stands
       anywhere afterwards. NULL: there are none, and `limit` has to be `end`. */
    bool (*polynomial)(Model *model, double *const *coefficients, Polynomial *found);
    double worth; /* communication steps that an inner one has to be long for it to be worth while to go beyond */
} Integrator;

double integrator_longest_step(const Model *model); /* s, from where the model stands */
bool integrator_spend_step(Model *model, int32_t *budget);
/* Whether it has not come to `end` yet, and is not to stop before. */
bool integrator_goes_on(const Model *model, double end);
/* After a step from time `begin`, which step_to can take again: cuts it short where an event comes, puts the states back
   on the constraints, makes the model's checks, and notes that the run is good up to there. */
bool integrator_accept_step(Model *model, double begin, StepTo step_to, const void *step);

#endif
