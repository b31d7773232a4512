/* Dense linear systems with several right-hand sides, in place. */

#ifndef LINEAR_SOLVE_H
#define LINEAR_SOLVE_H

#define LINEAR_SOLVE_OK 0
#define LINEAR_SOLVE_NOT_FINITE (-1)

/* Solves A X = B for a (n x n) and b (n x columns), both column-major: b becomes X, a its LU factors.
   pivots: n numbers of rows, result. scale: n doubles of scratch. Returns LINEAR_SOLVE_OK,
   LINEAR_SOLVE_NOT_FINITE (A, B or X holds a number that is not finite), or the column 1..n at which A turned out to
   be singular to working precision. */
int linear_solve(int n, int columns, double *restrict a, double *restrict b, double *restrict pivots,
                 double *restrict scale);

/* Solves A X = B, or (transpose of A) X = B, once more with the factors and pivots of a solution; b becomes X. */
void linear_solve_again(int n, int columns, const double *restrict a, const double *restrict pivots,
                        double *restrict b);
void linear_solve_transposed(int n, int columns, const double *restrict a, const double *restrict pivots,
                             double *restrict b);

/* Bounds of X's rows, in n numbers, by the factors and the largest magnitudes of B's rows. */
void linear_bound(int n, int columns, const double *restrict a, const double *restrict pivots, const double *restrict b,
                  double *restrict bounds);

/* Whether n numbers can be the pivots of n rows: 0 to n - 1, as they are before the first solution, too. */
int linear_are_pivots(int n, const double *pivots);

#endif
