/* Dense systems with a symmetric, positive definite matrix, in place. */

#ifndef SYMMETRIC_SOLVE_H
#define SYMMETRIC_SOLVE_H

/* Solves A X = B for a (n x n) and b (n x columns), both column-major, by A's upper triangle: b becomes X, a its factors.
   Returns LINEAR_SOLVE_OK, LINEAR_SOLVE_NOT_FINITE, or the number 1..n of an unknown for which
   nothing positive is left of A, to working precision. */
int symmetric_solve(int n, int columns, double *restrict a, double *restrict b);

/* Solves A X = B once more with the factors of a solution; b becomes X. */
void symmetric_solve_again(int n, int columns, const double *restrict a, double *restrict b);

#endif
