/* Constrained equations of motion of a tree of bodies, without their matrix. */

#ifndef TREE_ROWS_H
#define TREE_ROWS_H

#include "tree_solve.h"

/* M X - C' L = F and C X = W, where M is the tree's, and regular. */
typedef struct {
    Tree tree;       /* with F, and X afterwards */
    int m;           /* constraints, 0 <= m <= n; none: M X = F */
    const double *C; /* m x n, column-major */
    double *L;       /* m x columns, column-major: W; L afterwards */
    double *work;    /* n (m + 1) + 2 m */
    double *regularity; /* NULL, or gets the least length that other rows leave of one: 0 where they depend on each other */
} TreeRows;

/* X and L, in place of F and W, by factors of the tree and of the rows. Returns a code of tree_factorise, or
   CONSTRAINED_SOLVE_DEPENDENT. */
int tree_rows_solve(const TreeRows *system, double *scratch);

/* X and L once more by these factors. */
void tree_rows_solve_again(const TreeRows *system, double *scratch);

#endif
