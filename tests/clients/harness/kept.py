"""Keeps the rows of a run in a folder, a file each, so that a run that ended early can go on.

Whoever names the folder answers for its rows being of the same two servers.
"""

import json

from . import session


class Kept:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, row):
        return self.folder / f"{row.client.name}-{row.protocol}.json"

    def save(self, row):
        """What could not be run is tried again the next time."""
        if row.not_run:
            return
        text = json.dumps({server: vars(outcome) for server, outcome in row.outcomes.items()})
        partial = self.path(row).with_suffix(".partial")
        partial.write_text(text)
        partial.rename(self.path(row))

    def load(self, row):
        """Fills the row in; False when it is not there."""
        if not self.path(row).exists():
            return False
        for server, fields in json.loads(self.path(row).read_text()).items():
            outcome = row.outcomes[server] = session.Outcome()
            vars(outcome).update(fields)
            for name in ("failed", "skipped"):
                setattr(outcome, name, [tuple(pair) for pair in fields[name]])
        return True
