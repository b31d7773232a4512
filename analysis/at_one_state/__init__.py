"""Analysis at one state: accelerations, joint reactions, uniqueness of reactions, and modes."""
