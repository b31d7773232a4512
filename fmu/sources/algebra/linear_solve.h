/* Dense linear systems with several right-hand sides, solved in place. */

#ifndef LINEAR_SOLVE_H
#define LINEAR_SOLVE_H

#define LINEAR_SOLVE_OK 0
#define LINEAR_SOLVE_NOT_FINITE (-1)

/* Solves A X = B for a (n x n) and b (n x columns), both column-major; X replaces b, and the LU factors replace a.
   The result `pivots` has n row indices, and `scale` is scratch memory of n doubles. Returns LINEAR_SOLVE_OK,
   LINEAR_SOLVE_NOT_FINITE if A, B or X contains a number that is not finite, or the column 1..n at which A is
   singular to working precision. */
int linear_solve(int n, int columns, double *restrict a, double *restrict b, double *restrict pivots,
                 double *restrict scale);

/* Solves A X = B, or A' X = B in the second function, with existing factors and pivots; X replaces b. */
void linear_solve_again(int n, int columns, const double *restrict a, const double *restrict pivots,
                        double *restrict b);
void linear_solve_transposed(int n, int columns, const double *restrict a, const double *restrict pivots,
                             double *restrict b);

/* Computes upper bounds of the magnitudes in the n rows of X from the factors and the largest magnitudes in the rows
   of B. */
void linear_bound(int n, int columns, const double *restrict a, const double *restrict pivots, const double *restrict b,
                  double *restrict bounds);

/* Whether n numbers are valid row indices 0 to n - 1, as they are after a solution and before the first one. */
int linear_are_pivots(int n, const double *pivots);

#endif
