/* Equations of motion of a tree of bodies with constraints, solved without forming the mass matrix. */

#ifndef TREE_ROWS_H
#define TREE_ROWS_H

#include "tree_solve.h"

/* System M X - C' L = F, C X = W with the regular mass matrix M of a tree of bodies. */
typedef struct {
    Tree tree;       /* tree with the right-hand sides F, which X replaces */
    int m;           /* number of constraints, 0 <= m <= n; 0 means M X = F */
    const double *C; /* constraint Jacobian, m x n, column-major */
    double *L;       /* right-hand sides W, which the multipliers L replace; m x columns, column-major */
    double *work;    /* scratch memory, n (m + 1) + 2 m doubles */
    double *regularity; /* NULL, or receives the smallest distance of a row of C from the span of the others, 0 if
                           rows are dependent */
} TreeRows;

/* Computes X and L, which replace F and W, with new factors of M and C. Returns a code of tree_factorise, or
   CONSTRAINED_SOLVE_DEPENDENT if constraints are linearly dependent. */
int tree_rows_solve(const TreeRows *system, double *scratch);

/* Computes X and L for other right-hand sides with the existing factors. */
void tree_rows_solve_again(const TreeRows *system, double *scratch);

#endif
