/* What evaluation.py and real_time.py time: loops in C, so that a batch costs one call from Python. */

#define _POSIX_C_SOURCE 199309L

#include "fmi2FunctionTypes.h"

#include <time.h>

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

static double now(void) {
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return (double)moment.tv_sec + 1e-9 * (double)moment.tv_nsec;
}

/* Communication steps of `size` s from time 0 on; seconds: what each took by the clock. Returns the first failed status,
   or 0. */
int run_steps(fmi2DoStepTYPE *do_step, fmi2Component c, double size, int steps, double *seconds) {
    double before = now();
    for (int i = 0; i < steps; i++) {
        const fmi2Status status = do_step(c, size * i, size, fmi2True);
        const double after = now();
        seconds[i] = after - before;
        before = after;
        if (status != fmi2OK) return status;
    }
    return 0;
}
