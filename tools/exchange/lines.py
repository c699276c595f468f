"""The lines of JSON of weir-export, which says in its help how they look."""

import base64

FORMAT = 1
PAGE = 250  # keys that are asked for together


def written(data):
    """Bytes as JSON has them."""
    if isinstance(data, list):
        return [written(part) for part in data]
    if not isinstance(data, bytes):
        return data
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def binary(data):
    return {"base64": base64.b64encode(data).decode()}


def read_back(value):
    if isinstance(value, dict):
        return base64.b64decode(value["base64"], validate=True)
    return value.encode()


def pairs(reply):
    return [[reply[at], reply[at + 1]] for at in range(0, len(reply), 2)]


def shown(limit):
    """A limit of RL.INFO as a map."""
    if not isinstance(limit, list):
        return written(limit)
    return {written(name): shown(value) if isinstance(value, list) else written(value)
            for name, value in pairs(limit)}
