/* A = L D L' without pivots, which is backward stable for a positive definite matrix, whatever the scales of its unknowns
   (Golub and Van Loan, Matrix Computations, 4th ed., 4.2). L is stored below the diagonal, its own being 1, and the
   inverse of D on it. */

#include "symmetric_solve.h"

#include "finite.h"
#include "linear_solve.h"

#include <math.h>
#include <stddef.h>

/* What is left of an unknown's inertia that has lost this share of it to cancellation is rounding error. */
static const double SINGULAR = 1e-13;

/* As in linear_solve.c. Pairs begin at even places, wherever a loop does: one that overlaps two that were just stored
   would have to wait for both. */
enum { LANES = 2 };

/* y -= x f, from `first` on */
static inline void subtract(int first, int n, const double *restrict x, double f, double *restrict y) {
    int i = first;
    if (i % LANES == 1 && i < n) y[i] -= x[i] * f, i++;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++) y[i + lane] -= x[i + lane] * f;
    for (; i < n; i++) y[i] -= x[i] * f;
}

/* x' y, from `first` on */
static inline double dot(int first, int n, const double *restrict x, const double *restrict y) {
    double sum[LANES] = {0.0};
    int i = first;
    if (i % LANES == 1 && i < n) sum[0] = x[i] * y[i], i++;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++) sum[lane] += x[i + lane] * y[i + lane];
    for (; i < n; i++) sum[0] += x[i] * y[i];
    return sum[0] + sum[1];
}

/* Takes column k's share, l l' / d, out of what is right of it. */
static void eliminate(int n, int k, double *restrict l, double *restrict right) {
    const double inverse = 1.0 / l[k];
    for (int j = k + 1; j < n; j++, right += n) subtract(j, n, l, l[j] * inverse, right);
    for (int i = k + 1; i < n; i++) l[i] *= inverse;
    l[k] = inverse;
}

static int factorise(int n, double *restrict a, double *restrict diagonal) {
    for (int k = 0; k < n; k++) diagonal[k] = a[(size_t)k * (size_t)(n + 1)];
    for (int k = 0; k < n; k++) {
        double *l = a + (size_t)k * (size_t)n;
        if (!isfinite(l[k])) return LINEAR_SOLVE_NOT_FINITE;
        if (!(l[k] > SINGULAR * diagonal[k])) return k + 1;
        eliminate(n, k, l, l + n);
    }
    return LINEAR_SOLVE_OK;
}

int symmetric_solve(int n, int columns, double *restrict a, double *restrict b, double *restrict scratch) {
    const int code = factorise(n, a, scratch);
    if (code != LINEAR_SOLVE_OK) return code;
    symmetric_solve_again(n, columns, a, b);
    return are_finite(n * columns, b) ? LINEAR_SOLVE_OK : LINEAR_SOLVE_NOT_FINITE;
}

void symmetric_solve_again(int n, int columns, const double *restrict a, double *restrict b) {
    double *y = b;
    for (int j = 0; j < columns; j++, y += n) {
        for (int k = 0; k < n; k++) subtract(k + 1, n, a + (size_t)k * (size_t)n, y[k], y);
        for (int k = n - 1; k >= 0; k--) {
            const double *l = a + (size_t)k * (size_t)n;
            y[k] = y[k] * l[k] - dot(k + 1, n, l, y);
        }
    }
}
