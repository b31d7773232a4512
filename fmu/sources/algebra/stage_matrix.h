/* Linear systems (1 - g J) x = b of implicit integration methods. */

#ifndef STAGE_MATRIX_H
#define STAGE_MATRIX_H

/* Jacobian J, n x n, column-major. The time derivatives of the first `positions` states are the following states, so
   these rows of J are [0, 1, 0]. Their stored elements are not read. Their elimination reduces the size of the system
   to n - positions. */
typedef struct {
    int n, positions;
    const double *J;
    double *work; /* at most n (n + STAGE_MATRIX_VECTORS) doubles for factors, pivots and scales */
} StageMatrix;

enum { STAGE_MATRIX_VECTORS = 2 };

/* Computes the factors of 1 - g J. Returns a code of linear_solve. */
int stage_matrix_factor(const StageMatrix *matrix, double g);

/* Replaces b by x, with the factors for the same g. */
void stage_matrix_solve(const StageMatrix *matrix, double g, double *b);

#endif
