/* Constrained equations of motion; the dependent unknowns are chosen for each matrix. */

#ifndef CONSTRAINED_SOLVE_H
#define CONSTRAINED_SOLVE_H

#include "linear_solve.h"

/* System M X - C' L = F, C X = W with dense column-major matrices. */
typedef struct {
    int n;                       /* number of unknowns */
    int m;                       /* number of constraints, 0 < m <= n */
    int columns;                 /* number of columns of F, W, X and L */
    const double *M, *C, *F, *W; /* M: n x n, symmetric; C: m x n; F: n x columns; W: m x columns */
    double *X, *L;               /* X: n x columns; L: m x columns */
    double *work;                /* scratch memory, m (n + m) + f (f + columns) + 2 n + m doubles with f = n - m */
    double *regularity;          /* NULL, or receives a lower estimate of the distance of C from a matrix of lower
                                    rank; 0 if rows are dependent */
} Constrained;

#define CONSTRAINED_SOLVE_DEPENDENT (-2) /* a row of C depends linearly on the others to working precision */

/* Computes X and L. Returns a code of linear_solve or CONSTRAINED_SOLVE_DEPENDENT; a positive code is the index 1..
   of a column of M restricted to the null space of C. */
int constrained_solve(const Constrained *system);

/* Computes X and L for other F and W with the factors in `work`; M and C are unchanged. */
void constrained_solve_again(const Constrained *system);

/* Whether `work` contains valid indices of unknowns, as it does after a solution and before the first one. */
int constrained_are_pivots(const Constrained *system);

#endif
