/* Equations of motion M X = F of a tree of bodies, solved without forming M. The articulated-body algorithm
   (Featherstone 2008, Rigid Body Dynamics Algorithms, section 7.3) takes a time proportional to the number of bodies. */

#ifndef TREE_SOLVE_H
#define TREE_SOLVE_H

enum { TREE_FACTORS = 7, TREE_SCRATCH = 26 }; /* doubles of factors per coordinate, doubles of scratch memory per body */
enum { TREE_TOGETHER = 4 };                      /* number of columns that are solved at a time */

/* Motion of a body due to a coordinate: general motion, rotation about the body's origin, or translation. */
typedef enum { TREE_MOVES, TREE_TURNS, TREE_SHIFTS } TreeMotion;

/* Tree of bodies. The quantities of each body refer to the origin of its own frame, in world axes. */
typedef struct {
    int n, columns, bodies;
    const int *parents;       /* per body: index of the parent body, which is smaller than the body's own; -1: ground */
    const int *ends;          /* per body: number of coordinates of this body and all bodies with smaller indices */
    const int *motions;       /* per coordinate: a TreeMotion */
    const double *axes;       /* per coordinate, 6 numbers: angular velocity (0 for translations) and velocity of the
                                 body's origin (0 for rotations) */
    const double *inertias;   /* per body: mass, first mass moment (3), moments of inertia xx, xy, xz, yy, yz, zz */
    const double *arms;       /* per body, 3 numbers: offset vector from the parent's origin */
    const double *armatures;  /* per coordinate: rotor inertia that is added to the diagonal of M */
    double *factors;          /* factors of M, TREE_FACTORS n doubles */
    double *X;                /* right-hand sides F, which X replaces; n x columns, column-major */
} Tree;

/* Computes the factors of M. The scratch memory has TREE_SCRATCH doubles per body. Returns LINEAR_SOLVE_OK,
   LINEAR_SOLVE_NOT_FINITE, or the number 1..n of a coordinate without inertia to working precision. */
int tree_factorise(const Tree *tree, double *scratch);

/* Solves M X = F with the existing factors; X replaces F. M is symmetric, so the transposed system has the same
   solution. */
void tree_solve(const Tree *tree, double *scratch);

/* Half solutions for 1 to TREE_TOGETHER columns x with M = L D L': `tree_inward` computes L^-1 x, and `tree_outward`
   computes L'^-1 x. L^-1 x is non-zero only for coordinates that carry a coordinate with a force. The inverse of D is
   the last factor of each coordinate. */
void tree_inward(const Tree *tree, int count, double *const *x, double *scratch);
void tree_outward(const Tree *tree, int count, double *const *x, double *scratch);

/* Stores pointers to the columns of X from `first` on, at most TREE_TOGETHER, and returns their number. */
int tree_columns(const Tree *tree, int first, double **x);

/* Whether all elements of X are finite. */
int tree_is_finite(const Tree *tree);

#endif
