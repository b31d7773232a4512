/* Constrained equations of motion, the dependent unknowns chosen anew for every matrix. */

#ifndef CONSTRAINED_SOLVE_H
#define CONSTRAINED_SOLVE_H

#include "linear_solve.h"

/* M X - C' L = F and C X = W; all matrices dense and column-major. */
typedef struct {
    int n;                       /* unknowns */
    int m;                       /* constraints, 0 < m <= n */
    int columns;                 /* of F, W, X and L */
    const double *M, *C, *F, *W; /* n x n, symmetric; m x n; n x columns; m x columns */
    double *X, *L;               /* n x columns; m x columns */
    double *work;                /* m (n + m) + f (f + columns) + 2 n + m numbers, f = n - m */
    double *regularity;          /* NULL, or gets how far C is from lower rank: 0 where rows depend on each other */
} Constrained;

#define CONSTRAINED_SOLVE_DEPENDENT (-2) /* a row of C depends on the others to working precision */

/* Sets X and L. Returns a code of linear_solve or the one above; a column 1.. is one of M on what C leaves free. */
int constrained_solve(const Constrained *system);

/* Once more for other F and W with what is left of a solution in `work`; M and C are as they were then. */
void constrained_solve_again(const Constrained *system);

/* Whether `work` holds what can be the indices of a solution, as it does before the first one, too. */
int constrained_are_pivots(const Constrained *system);

#endif
