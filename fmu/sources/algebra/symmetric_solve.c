/* A = L D L' without pivots, which is backward stable for a positive definite matrix, whatever the scales of its unknowns
   (Golub and Van Loan, Matrix Computations, 4th ed., 4.2). L is stored below the diagonal, its own being 1, and the
   inverse of D on it. */

#include "symmetric_solve.h"

#include "linear_solve.h"
#include "vectors.h"

#include <math.h>
#include <stddef.h>

/* What is left of an unknown's inertia that has lost this share of it to cancellation is rounding error. */
static const double SINGULAR = 1e-13;

/* Takes column k's share, l l' / d, out of what is right of it. */
static void eliminate(int n, int k, double *restrict l, double *restrict right) {
    const double inverse = 1.0 / l[k];
    for (int j = k + 1; j < n; j++, right += n) subtract(n - j, l + j, l[j] * inverse, right + j);
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
        for (int k = 0; k < n; k++) subtract(n - k - 1, a + (size_t)k * (size_t)(n + 1) + 1, y[k], y + k + 1);
        for (int k = n - 1; k >= 0; k--) {
            const double *l = a + (size_t)k * (size_t)n;
            y[k] = y[k] * l[k] - dot(n - k - 1, l + k + 1, y + k + 1);
        }
    }
}
