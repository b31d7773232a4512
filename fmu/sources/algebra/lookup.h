/* Tables: which piece of a piecewise polynomial a number is in. */

#ifndef LOOKUP_H
#define LOOKUP_H

/* The last of n pieces, of `width` numbers each, that begin at x or before; 0 where none does. A begin is the first
   number of a piece; begins do not decrease. */
int lookup_piece(int n, int width, const double *pieces, double x);

#endif
