"""Published results of other people's programs and experiments, and descriptions that reproduce them.

Each module holds the cases of one kind; `benchmarks/published.py` runs all of them. Descriptions are TOML files,
or generated where a family shares them. Published values are CSV files with a row per time, quantity and value.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
