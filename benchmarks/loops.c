/* What evaluation.py times: loops in C, so that a batch costs one call from Python. */

#include "fmi2FunctionTypes.h"

/* A row of a table of numbers, the same again after the last. */
static const double *row(const double *table, int rows, int size, int i) {
    return table + (size_t)(i % rows) * (size_t)size;
}

/* Evaluates an FMU in continuous-time mode `calls` times; time and states change each time, as they do under a
   solver. states: table of points, n numbers each; derivatives: n numbers. Returns the first failed status, or 0. */
int evaluate(fmi2SetTimeTYPE *set_time, fmi2SetContinuousStatesTYPE *set_states,
             fmi2GetDerivativesTYPE *get_derivatives, fmi2Component c, const double *states, int rows, int n,
             double *derivatives, int calls) {
    for (int i = 0; i < calls; i++) {
        fmi2Status status = set_time(c, 1e-6 * i);
        if (status == fmi2OK) status = set_states(c, row(states, rows, n, i), (size_t)n);
        if (status == fmi2OK) status = get_derivatives(c, derivatives, (size_t)n);
        if (status != fmi2OK) return status;
    }
    return 0;
}
