/* Dense systems with a symmetric positive definite matrix, solved in place. */

#ifndef SYMMETRIC_SOLVE_H
#define SYMMETRIC_SOLVE_H

/* Solves A X = B for a (n x n) and b (n x columns), both column-major, from the upper triangle of A; X replaces b,
   and the factors replace a. Returns LINEAR_SOLVE_OK, LINEAR_SOLVE_NOT_FINITE, or the number 1..n of an unknown at
   which A is not positive definite to working precision. */
int symmetric_solve(int n, int columns, double *restrict a, double *restrict b);

/* Solves A X = B with existing factors; X replaces b. */
void symmetric_solve_again(int n, int columns, const double *restrict a, double *restrict b);

#endif
