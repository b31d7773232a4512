/* What evaluation.py times: loops in C, so that a batch costs one call from Python. */

#include "fmi2FunctionTypes.h"
#include "linear_solve.h"

#include <string.h>

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

/* Copies `calls` linear systems and solves the copies (solve = 0: copies only). systems: table of them, each n x n
   numbers of A, then n x columns of B; work: as many, and 2 n more. Returns linear_solve's first failure, or 0. */
int solve_systems(const double *systems, int rows, int n, int columns, double *work, int calls, int solve) {
    const int size = n * (n + columns);
    for (int i = 0; i < calls; i++) {
        memcpy(work, row(systems, rows, size, i), (size_t)size * sizeof *work);
        double *right = work + n * n, *pivots = work + size, *scale = pivots + n;
        const int code = solve ? linear_solve(n, columns, work, right, pivots, scale) : LINEAR_SOLVE_OK;
        if (code != LINEAR_SOLVE_OK) return code;
    }
    return 0;
}
