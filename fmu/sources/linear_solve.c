/* LU with partial pivoting on row-equilibrated magnitudes (Golub and Van Loan, Matrix Computations, 4th ed., 3.4
   and 3.5).

   Left-looking: a column of A, and later one of B, receives the updates of all finished columns at once, four at a
   time, so that it is loaded and stored once per four columns. Rows are not scaled, only compared as if they were:
   A and B keep their digits. */

#include "linear_solve.h"

#include <math.h>
#include <stddef.h>

/* A pivot that has lost this share of its column's size to cancellation is rounding error. */
static const double SINGULAR = 1e-13;

/* The inner loops run over a constant number of lanes: gcc vectorises at -O2 only where no remainder is left. */
enum { LANES = 4 };

static double larger(double a, double b) { return a > b ? a : b; }

static void subtract_one(int n, double *restrict y, const double *restrict a, double factor) {
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++) y[i + lane] -= a[i + lane] * factor;
    for (; i < n; i++) y[i] -= a[i] * factor;
}

/* y -= a f0 + b f1 + c f2 + d f3 */
static void subtract_four(int n, double *restrict y, const double *restrict a, const double *restrict b,
                          const double *restrict c, const double *restrict d, const double f[4]) {
    const double f0 = f[0], f1 = f[1], f2 = f[2], f3 = f[3];
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            y[i + lane] -= a[i + lane] * f0 + b[i + lane] * f1 + c[i + lane] * f2 + d[i + lane] * f3;
    for (; i < n; i++) y[i] -= a[i] * f0 + b[i] * f1 + c[i] * f2 + d[i] * f3;
}

/* Applies the columns k..k+3 of L, which start at l, to the column y: their triangle, then the rows below it. */
static void eliminate_four(int n, int k, const double *restrict l, double *restrict y) {
    const double *a = l + k, *b = a + n, *c = b + n, *d = c + n;
    double f[4] = {y[k], y[k + 1], y[k + 2], y[k + 3]};
    f[1] -= a[1] * f[0];
    f[2] -= a[2] * f[0] + b[2] * f[1];
    f[3] -= a[3] * f[0] + b[3] * f[1] + c[3] * f[2];
    for (int i = 1; i < 4; i++) y[k + i] = f[i];
    subtract_four(n - k - 4, y + k + 4, a + 4, b + 4, c + 4, d + 4, f);
}

/* Applies the first `finished` columns of L to the column y. */
static void eliminate(int n, int finished, const double *restrict a, double *restrict y) {
    int k = 0;
    for (; k + 4 <= finished; k += 4) eliminate_four(n, k, a + (size_t)k * (size_t)n, y);
    for (; k < finished; k++) subtract_one(n - k - 1, y + k + 1, a + (size_t)k * (size_t)n + k + 1, y[k]);
}

/* Sets scale to the inverse of each row's largest magnitude: infinite for a row of zeros, which gives no pivot. */
static void equilibrate(int n, const double *restrict a, double *restrict scale) {
    for (int i = 0; i < n; i++) scale[i] = 0.0;
    for (int j = 0; j < n; j++) {
        const double *column = a + (size_t)j * (size_t)n;
        int i = 0;
        for (; i + LANES <= n; i += LANES)
            for (int lane = 0; lane < LANES; lane++)
                scale[i + lane] = larger(fabs(column[i + lane]), scale[i + lane]);
        for (; i < n; i++) scale[i] = larger(fabs(column[i]), scale[i]);
    }
    for (int i = 0; i < n; i++) scale[i] = 1.0 / scale[i];
}

/* Row of the pivot of column j, -1 if there is none. What is left below the diagonal is judged against the part
   above it: cancellation cannot have come from numbers larger than those. */
static int find_pivot(int n, int j, const double *column, const double *scale) {
    double above = 0.0, best = 0.0;
    int pivot = -1;
    for (int i = 0; i < j; i++) above = larger(fabs(column[i]) * scale[i], above);
    for (int i = j; i < n; i++) {
        const double size = fabs(column[i]) * scale[i];
        if (size > best) {
            best = size;
            pivot = i;
        }
    }
    return best > SINGULAR * above ? pivot : -1;
}

static void swap_rows(int n, int columns, double *matrix, int i, int k) {
    for (int j = 0; j < columns; j++) {
        double *column = matrix + (size_t)j * (size_t)n;
        const double held = column[i];
        column[i] = column[k];
        column[k] = held;
    }
}

/* Solves U x = y in place; the diagonal of the factors holds the inverse pivots. */
static void substitute_back(int n, const double *restrict a, double *restrict y) {
    for (int j = n - 1; j >= 0; j--) {
        const double *column = a + (size_t)j * (size_t)n;
        y[j] *= column[j];
        subtract_one(j, y, column, y[j]);
    }
}

static int is_finite(int n, const double *y) {
    for (int i = 0; i < n; i++)
        if (!isfinite(y[i])) return 0;
    return 1;
}

int linear_solve(int n, int columns, double *restrict a, double *restrict b, double *restrict scale) {
    equilibrate(n, a, scale);
    for (int j = 0; j < n; j++) {
        double *column = a + (size_t)j * (size_t)n;
        eliminate(n, j, a, column);
        const int pivot = find_pivot(n, j, column, scale);
        if (pivot < 0) return is_finite(n, column) ? j + 1 : LINEAR_SOLVE_NOT_FINITE;
        if (pivot != j) {
            swap_rows(n, n, a, pivot, j);
            swap_rows(n, columns, b, pivot, j);
            swap_rows(n, 1, scale, pivot, j);
        }
        column[j] = 1.0 / column[j];
        for (int i = j + 1; i < n; i++) column[i] *= column[j];
    }
    for (int k = 0; k < columns; k++) {
        double *y = b + (size_t)k * (size_t)n;
        eliminate(n, n, a, y);
        substitute_back(n, a, y);
        if (!is_finite(n, y)) return LINEAR_SOLVE_NOT_FINITE;
    }
    return LINEAR_SOLVE_OK;
}
