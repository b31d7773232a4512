/* Vector operations, written in pairs: gcc vectorises loops over a constant number of lanes without a remainder loop. */

#ifndef VECTORS_H
#define VECTORS_H

#include <stddef.h>
#include <string.h>

enum { LANES = 2, PARTS = 4 }; /* sums have twice as many parts, because each addition waits for the previous one */

/* Copies n numbers; for n = 0 the pointers may be NULL. */
static inline void copy_numbers(int n, const double *source, double *target) {
    if (n > 0) memcpy(target, source, (size_t)n * sizeof *target);
}

/* Returns the larger number without a function call, unlike fmax. */
static inline double larger(double a, double b) { return a > b ? a : b; }

/* Returns the dot product a' b of n numbers. */
static inline double dot(int n, const double *restrict a, const double *restrict b) {
    double sum[PARTS] = {0.0};
    int i = 0;
    for (; i + PARTS <= n; i += PARTS)
        for (int part = 0; part < PARTS; part++) sum[part] += a[i + part] * b[i + part];
    for (; i < n; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Computes y -= v factor for n numbers. */
static inline void subtract(int n, const double *restrict v, double factor, double *restrict y) {
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++) y[i + lane] -= v[i + lane] * factor;
    for (; i < n; i++) y[i] -= v[i] * factor;
}

/* Whether n numbers are finite: 0 x is NaN if x is not finite. */
static inline int are_finite(int n, const double *x) {
    double sum[LANES] = {0.0};
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++) sum[lane] += 0.0 * x[i + lane];
    for (; i < n; i++) sum[0] += 0.0 * x[i];
    return sum[0] + sum[1] == 0.0;
}

#endif
