"""Which rows of the tables a run has sent, and which of each row's options: bent requests, and calls
made inside scripts, do not count."""


def branches(node):
    """All that a request may have or not: what is optional, and what is one of several."""
    kind, content = node
    if kind == "word":
        return
    if kind == "maybe":
        yield content
    if kind == "one":
        yield from content
    for part in content if kind in ("all", "one") else [content]:
        yield from branches(part)


def text_of(node):
    kind, content = node
    if kind == "word":
        return content
    return " ".join(map(text_of, content)) if kind in ("all", "one") else text_of(content)


class Coverage:
    """Nodes are told apart by what they are, so the rows have to outlive it."""

    def __init__(self, rows):
        self.rows = rows
        self.seen = set()

    def add(self, row, nodes):
        self.seen.add(id(row))
        self.seen.update(map(id, nodes))

    def missing(self):
        for row in self.rows:
            if id(row) not in self.seen:
                yield row.usage
                continue
            yield from (f"{row.usage}: {text_of(node) or 'without'}"
                        for node in branches(row.tree) if id(node) not in self.seen)

    def summary(self):
        rows = sum(id(row) in self.seen for row in self.rows)
        options = [id(node) in self.seen for row in self.rows for node in branches(row.tree)]
        names = {row.usage.split()[0] for row in self.rows if id(row) in self.seen}
        return (f"{rows} of {len(self.rows)} rows of {len(names)} commands sent,"
                f" {sum(options)} of their {len(options)} options")
