/* The linear systems of implicit methods: (1 - g J) x = b. */

#ifndef STAGE_MATRIX_H
#define STAGE_MATRIX_H

/* J is n x n, column-major. The rates of the first `positions` numbers are the next as many themselves: these rows of J
   are [0, 1, 0], whatever stands in it, and are eliminated: what is left is of size n - positions. */
typedef struct {
    int n, positions;
    const double *J;
    double *work; /* n (n + STAGE_MATRIX_VECTORS) numbers at most: factors, pivots, scale */
} StageMatrix;

enum { STAGE_MATRIX_VECTORS = 2 };

/* Factors of 1 - g J. Returns a code of linear_solve. */
int stage_matrix_factor(const StageMatrix *matrix, double g);

/* b becomes x, by factors for the same g. */
void stage_matrix_solve(const StageMatrix *matrix, double g, double *b);

#endif
