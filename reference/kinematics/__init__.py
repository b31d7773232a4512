"""Body transforms with their derivatives, and the quantities that expressions can refer to."""
