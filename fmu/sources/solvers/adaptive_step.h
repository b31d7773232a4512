/* Step-size control, common to all adaptive methods. */

#ifndef ADAPTIVE_STEP_H
#define ADAPTIVE_STEP_H

#include "integrator.h"

/* Step from the current point, in vectors of n_states numbers, which are the first ones of model->solver. */
typedef struct {
    double *state; /* state at the begin */
    double *slope; /* state derivative at the begin */
    double *trial; /* state at the end, result of an attempt */
    double *error; /* error estimate, result of an attempt */
    double *scratch; /* further scratch memory of the method */
} Step;

enum { STEP_VECTORS = 4 };

typedef struct {
    double order; /* order of the error estimate in the step size */
    /* Computes quantities that all attempts from a point need in addition to the derivative; NULL: none. */
    bool (*prepare)(Model *model, const Step *step);
    /* Performs a step from t to t_end, the new current time. Returns false and a message if the step fails. */
    bool (*attempt)(Model *model, double t, double t_end, const Step *step);
} AdaptiveMethod;

Step adaptive_vectors(const Model *model); /* vectors of the last attempt */

double relative_tolerance(const Model *model); /* tolerance of the importer, or of the setting */

/* Returns the size of the first step, s, at most `longest`, for a method of the given order, from `state` and
   `slope`; the other vectors are scratch memory. The current point is undefined afterwards. */
double adaptive_first_step(Model *model, double t, double longest, const Step *step, double order);

/* Implements Integrator.advance by accepted steps of the method. */
bool advance_adaptively(Model *model, double end, double limit, int32_t *budget, const AdaptiveMethod *method);

#endif
