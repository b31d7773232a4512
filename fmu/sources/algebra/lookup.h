/* Lookup tables: index of the piece of a piecewise polynomial that contains a number. */

#ifndef LOOKUP_H
#define LOOKUP_H

/* Returns the index of the last of n pieces that begins at x or before, or 0 if none does. A piece has `width`
   numbers, of which the first is its begin; the begins do not decrease. */
int lookup_piece(int n, int width, const double *pieces, double x);

#endif
