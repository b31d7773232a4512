/* Factorisation A = L D L' without pivoting, which is backward stable for a positive definite matrix with unknowns of
   any scale (Golub and Van Loan, Matrix Computations, 4th ed., section 4.2). Row i of L is stored in column i above
   the diagonal. The diagonal of L is 1, and the inverse of D is stored in its place.

   The factorisation proceeds row by row, so that each number is stored once. Pairs of rows would be slower for such
   small systems, because they would be read as vectors immediately after being stored as numbers. */

#include "symmetric_solve.h"

#include "linear_solve.h"
#include "vectors.h"

#include <math.h>
#include <stddef.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-vectorize")
#endif

/* Remaining inertia below this fraction of the original inertia is rounding error after cancellation. */
static const double SINGULAR = 1e-13;

/* Returns s - l' x for n numbers. */
static inline double less(double s, int n, const double *restrict l, const double *restrict x) {
    for (int k = 0; k < n; k++) s -= l[k] * x[k];
    return s;
}

/* Replaces row i of A by the row of L, and returns the diagonal element of D. */
static double reduce(int n, int i, const double *restrict a, double *restrict row) {
    for (int j = 1; j < i; j++) row[j] = less(row[j], j, a + (size_t)j * (size_t)n, row);
    double left = row[i];
    for (int j = 0; j < i; j++) {
        const double l = row[j] * a[(size_t)j * (size_t)(n + 1)];
        left -= row[j] * l;
        row[j] = l;
    }
    return left;
}

static int factorise(int n, double *restrict a) {
    for (int i = 0; i < n; i++) {
        double *row = a + (size_t)i * (size_t)n;
        const double whole = row[i], left = reduce(n, i, a, row);
        if (!isfinite(left)) return LINEAR_SOLVE_NOT_FINITE;
        if (!(left > SINGULAR * whole)) return i + 1;
        row[i] = 1.0 / left;
    }
    return LINEAR_SOLVE_OK;
}

int symmetric_solve(int n, int columns, double *restrict a, double *restrict b) {
    const int code = factorise(n, a);
    if (code != LINEAR_SOLVE_OK) return code;
    symmetric_solve_again(n, columns, a, b);
    return are_finite(n * columns, b) ? LINEAR_SOLVE_OK : LINEAR_SOLVE_NOT_FINITE;
}

static void solve_column(int n, const double *restrict a, double *restrict y) {
    for (int i = 1; i < n; i++) y[i] = less(y[i], i, a + (size_t)i * (size_t)n, y);
    for (int i = 0; i < n; i++) y[i] *= a[(size_t)i * (size_t)(n + 1)];
    for (int i = n - 1; i > 0; i--) {
        const double *l = a + (size_t)i * (size_t)n, x = y[i];
        for (int k = 0; k < i; k++) y[k] -= l[k] * x;
    }
}

void symmetric_solve_again(int n, int columns, const double *restrict a, double *restrict b) {
    for (int j = 0; j < columns; j++) solve_column(n, a, b + (size_t)j * (size_t)n);
}
