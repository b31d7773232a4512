/* LU factorisation with partial pivoting on row-equilibrated magnitudes (Golub and Van Loan, Matrix Computations, 4th
   ed., sections 3.4 and 3.5) in Crout's form: U has a unit diagonal, and L contains the inverse pivots.

   The algorithm is right-looking and processes two columns at a time, so that the remaining part of A, and B, is
   loaded and stored once per two columns of L. Row scales only affect the choice of pivots; A and B themselves are
   not scaled. */

#include "linear_solve.h"

#include "vectors.h"

#include <math.h>
#include <stddef.h>

/* Pivots below this fraction of their column's size are rounding errors after cancellation. */
static const double SINGULAR = 1e-13;

/* Computes the largest magnitude in each row. */
static void measure_rows(int n, int columns, const double *restrict a, double *restrict sizes) {
    int i = 0;
    for (; i + LANES <= n; i += LANES) {
        double size[LANES] = {0.0};
        for (const double *row = a + i, *end = row + (size_t)columns * (size_t)n; row != end; row += n)
            for (int lane = 0; lane < LANES; lane++) size[lane] = larger(fabs(row[lane]), size[lane]);
        for (int lane = 0; lane < LANES; lane++) sizes[i + lane] = size[lane];
    }
    for (; i < n; i++) {
        sizes[i] = 0.0;
        for (int j = 0; j < columns; j++) sizes[i] = larger(fabs(a[(size_t)j * (size_t)n + (size_t)i]), sizes[i]);
    }
}

/* Sets scale to the inverse of each row's largest magnitude; for a row of zeros it is infinite, which yields no
   pivot. */
static void equilibrate(int n, const double *restrict a, double *restrict scale) {
    measure_rows(n, n, a, scale);
    for (int i = 0; i < n; i++) scale[i] = 1.0 / scale[i];
}

/* Returns the largest scaled magnitude of n elements. */
static double largest(int n, const double *column, const double *scale) {
    double size[LANES] = {0.0};
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            size[lane] = larger(fabs(column[i + lane]) * scale[i + lane], size[lane]);
    for (; i < n; i++) size[0] = larger(fabs(column[i]) * scale[i], size[0]);
    return larger(size[0], size[1]);
}

/* Returns the row of the pivot of column k, or -1 if the matrix is singular. The elements on and below the diagonal
   are compared with those above: cancellation cannot have involved larger numbers. */
static int find_pivot(int n, int k, const double *column, const double *scale) {
    const double best = largest(n - k, column + k, scale + k);
    if (!(best > SINGULAR * largest(k, column, scale))) return -1;
    int pivot = k;
    while (pivot + 1 < n && fabs(column[pivot]) * scale[pivot] != best) pivot++;
    return pivot;
}

static void swap_rows(int n, int columns, double *matrix, int i, int k) {
    for (int j = 0; j < columns; j++) {
        double *column = matrix + (size_t)j * (size_t)n;
        const double held = column[i];
        column[i] = column[k];
        column[k] = held;
    }
}

/* Applies column k of L, which starts at l, to the column y. */
static inline void eliminate_one(int n, int k, const double *restrict l, double *restrict y) {
    const double f = y[k] * l[k];
    y[k] = f;
    for (int i = k + 1; i < n; i++) y[i] -= l[i] * f;
}

/* Applies the columns k and k + 1 of L to the column y. */
static inline void eliminate_two(int n, int k, const double *restrict l, double *restrict y) {
    const double *m = l + n, f = y[k] * l[k], g = (y[k + 1] - l[k + 1] * f) * m[k + 1];
    y[k] = f;
    y[k + 1] = g;
    int i = k + 2;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++) y[i + lane] -= l[i + lane] * f + m[i + lane] * g;
    for (; i < n; i++) y[i] -= l[i] * f + m[i] * g;
}

/* Applies `count` columns of L, at most two, to each column of a matrix. */
static void eliminate(int n, int k, int count, const double *restrict l, int columns, double *restrict matrix) {
    double *y = matrix;
    if (count == 1)
        for (int j = 0; j < columns; j++, y += n) eliminate_one(n, k, l, y);
    if (count == 2)
        for (int j = 0; j < columns; j++, y += n) eliminate_two(n, k, l, y);
}

/* Solves U x = y in place for each column y of a matrix. */
static void substitute_back(int n, const double *restrict a, int columns, double *restrict matrix) {
    double *y = matrix;
    for (int k = 0; k < columns; k++, y += n)
        for (int j = n - 1; j > 0; j--) subtract(j, a + (size_t)j * (size_t)n, y[j], y);
}

int linear_solve(int n, int columns, double *restrict a, double *restrict b, double *restrict pivots,
                 double *restrict scale) {
    equilibrate(n, a, scale);
    for (int first = 0; first < n; first += 2) {
        const int width = first + 1 < n ? 2 : 1;
        double *l = a + (size_t)first * (size_t)n;
        for (int k = first; k < first + width; k++) {
            double *column = a + (size_t)k * (size_t)n;
            eliminate(n, first, k - first, l, 1, column);
            const int pivot = find_pivot(n, k, column, scale);
            if (pivot < 0) return are_finite(n, column) ? k + 1 : LINEAR_SOLVE_NOT_FINITE;
            if (pivot != k) {
                swap_rows(n, n - first, l, k, pivot);
                swap_rows(n, columns, b, k, pivot);
                swap_rows(n, 1, scale, k, pivot);
            }
            pivots[k] = pivot;
            scale[k] *= fabs(column[k]); /* the row of U is divided by the pivot */
            column[k] = 1.0 / column[k];
        }
        const int next = first + width;
        eliminate(n, first, width, l, n - next, a + (size_t)next * (size_t)n);
        eliminate(n, first, width, l, columns, b);
    }
    substitute_back(n, a, columns, b);
    return are_finite(n * columns, b) ? LINEAR_SOLVE_OK : LINEAR_SOLVE_NOT_FINITE;
}

static void swap(double *y, int i, int k) {
    const double held = y[i];
    y[i] = y[k];
    y[k] = held;
}

void linear_solve_again(int n, int columns, const double *restrict a, const double *restrict pivots,
                        double *restrict b) {
    for (int j = 0; j < columns; j++) {
        double *y = b + (size_t)j * (size_t)n;
        for (int k = 0; k < n; k += 2) { /* row exchanges of a pair of columns precede the elimination with this pair */
            const int width = k + 1 < n ? 2 : 1;
            for (int i = k; i < k + width; i++) swap(y, i, (int)pivots[i]);
            eliminate(n, k, width, a + (size_t)k * (size_t)n, 1, y);
        }
    }
    substitute_back(n, a, columns, b);
}

void linear_solve_transposed(int n, int columns, const double *restrict a, const double *restrict pivots,
                             double *restrict b) {
    for (int j = 0; j < columns; j++) {
        double *y = b + (size_t)j * (size_t)n;
        for (int k = 1; k < n; k++) y[k] -= dot(k, a + (size_t)k * (size_t)n, y);
        for (int k = n - 1; k >= 0; k--) {
            const double *l = a + (size_t)k * (size_t)n;
            y[k] = l[k] * (y[k] - dot(n - k - 1, l + k + 1, y + k + 1));
            if (k % 2) continue; /* the other column of the pair is processed first */
            if (k + 1 < n) swap(y, k + 1, (int)pivots[k + 1]);
            swap(y, k, (int)pivots[k]);
        }
    }
}

/* Performs the operations of the solution with magnitudes, so that nothing cancels (Higham, Accuracy and Stability of
   Numerical Algorithms, 2nd ed., section 8.2: comparison matrices of triangular matrices). */
void linear_bound(int n, int columns, const double *restrict a, const double *restrict pivots, const double *restrict b,
                  double *restrict bounds) {
    measure_rows(n, columns, b, bounds);
    for (int k = 0; k < n; k++) {
        const double *l = a + (size_t)k * (size_t)n;
        for (int i = k; i < k + 2 && i < n && k % 2 == 0; i++) swap(bounds, i, (int)pivots[i]);
        bounds[k] *= fabs(l[k]);
        for (int i = k + 1; i < n; i++) bounds[i] += fabs(l[i]) * bounds[k];
    }
    for (int j = n - 1; j > 0; j--)
        for (int i = 0; i < j; i++) bounds[i] += fabs(a[(size_t)j * (size_t)n + (size_t)i]) * bounds[j];
}

int linear_are_pivots(int n, const double *pivots) {
    for (int i = 0; i < n; i++)
        if (!(pivots[i] >= 0.0 && pivots[i] < n)) return 0;
    return 1;
}
