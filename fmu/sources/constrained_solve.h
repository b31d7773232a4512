/* Constrained equations of motion, the dependent unknowns chosen anew at every call. */

#ifndef CONSTRAINED_SOLVE_H
#define CONSTRAINED_SOLVE_H

#include "linear_solve.h"

/* M X - C' L = F and C X = W; all matrices dense and column-major. */
typedef struct {
    int n;                       /* unknowns */
    int m;                       /* constraints, 0 < m <= n */
    int columns;                 /* of F, W, X and L */
    const double *M, *C, *F, *W; /* n x n, symmetric; m x n; n x columns; m x columns */
    double *X, *L;               /* n x columns; m x columns, NULL if not wanted */
} Constrained;

#define CONSTRAINED_SOLVE_DEPENDENT (-2) /* a row of C depends on the others to working precision */

/* Sizes of the scratch memory for a system of these sizes. */
int constrained_solve_doubles(int n, int m, int columns);
int constrained_solve_integers(int n);

/* Sets X and L. Returns a code of linear_solve or the one above; a column 1.. is one of M on what C leaves free. */
int constrained_solve(const Constrained *system, double *doubles, long long int *integers);

#endif
