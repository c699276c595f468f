"""Tries real clients against weir-server and redis-server: tools/test-clients."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # of tests/support
