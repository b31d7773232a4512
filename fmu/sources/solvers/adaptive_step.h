/* Step size control, the same for every adaptive method. */

#ifndef ADAPTIVE_STEP_H
#define ADAPTIVE_STEP_H

#include "integrator.h"

/* A step from where the model stood, in vectors of n_states numbers: the first ones of model->solver. */
typedef struct {
    double *state; /* at the begin */
    double *slope; /* its derivative */
    double *trial; /* the state at the end, result of an attempt */
    double *error; /* estimate, result of an attempt */
    double *scratch; /* what follows them is the method's own */
} Step;

enum { STEP_VECTORS = 4 };

typedef struct {
    double order; /* of the error that is estimated, as a power of the step size */
    /* What all attempts from a point need beside the slope there, where the model stands; NULL: nothing. */
    bool (*prepare)(Model *model, const Step *step);
    /* Steps from t to t_end, where the model stands afterwards. False, with a message: it cannot be done. */
    bool (*attempt)(Model *model, double t, double t_end, const Step *step);
} AdaptiveMethod;

Step adaptive_vectors(const Model *model); /* as an advance leaves them: those of its last attempt */

double relative_tolerance(const Model *model); /* the importer's, or the setting */

/* The size of the first step, s, at most `longest`, of a method of this order, from `state` and `slope`; the rest of
   the vectors is scratch. The model stands anywhere afterwards. */
double adaptive_first_step(Model *model, double t, double longest, const Step *step, double order);

/* Integrator.advance, by accepted steps of the method. */
bool advance_adaptively(Model *model, double end, double limit, int32_t *budget, const AdaptiveMethod *method);

#endif
