/* Equations of motion of a tree of bodies, M X = F, without M: by articulated-body inertias (Featherstone: Rigid Body
   Dynamics Algorithms, 2008, 7.3), in time that is linear in the number of bodies. */

#ifndef TREE_SOLVE_H
#define TREE_SOLVE_H

enum { TREE_FACTORS = 7, TREE_SCRATCH = 26 }; /* doubles per coordinate, per body */
enum { TREE_TOGETHER = 4 };                      /* columns at a time */

/* What a coordinate does to its body: anything, a turn about the origin, or a shift. */
typedef enum { TREE_MOVES, TREE_TURNS, TREE_SHIFTS } TreeMotion;

/* Each body has its quantities about the origin of its own frame, in world axes. */
typedef struct {
    int n, columns, bodies;
    const int *parents;       /* per body: index of the one that carries it, smaller than its own; -1: the ground */
    const int *ends;          /* per body: how many coordinates move it or one before it in this order */
    const int *motions;       /* per coordinate: a TreeMotion */
    const double *axes;       /* per coordinate: angular velocity (0 of shifts) and velocity of the body's origin (0 of
                                 turns), 6 */
    const double *inertias;   /* per body: mass, static moment (3), inertia xx, xy, xz, yy, yz, zz */
    const double *arms;       /* per body: from the origin of the one that carries it, 3 */
    const double *armatures;  /* per coordinate: what its own inertia grows by */
    double *factors;          /* TREE_FACTORS n */
    double *X;                /* n x columns, column-major: F; X afterwards */
} Tree;

/* Factors of M. scratch: TREE_SCRATCH doubles per body. Returns LINEAR_SOLVE_OK, LINEAR_SOLVE_NOT_FINITE, or the
   number 1..n of a coordinate against whose motion there is no inertia, to working precision. */
int tree_factorise(const Tree *tree, double *scratch);

/* X by these factors, in place of F, once or again; M is symmetric, so that this is the transposed system, too. */
void tree_solve(const Tree *tree, double *scratch);

/* Its two halves for 1 to TREE_TOGETHER columns x, with M = L D L': L^-1 x, of which only what carries a coordinate with a
   force has any; and L'^-1 x. The inverse of D is the last factor of each coordinate. */
void tree_inward(const Tree *tree, int count, double *const *x, double *scratch);
void tree_outward(const Tree *tree, int count, double *const *x, double *scratch);

/* The next columns of X from `first` on, TREE_TOGETHER at most; returns how many. */
int tree_columns(const Tree *tree, int first, double **x);

/* Whether all of X is finite. */
int tree_is_finite(const Tree *tree);

#endif
