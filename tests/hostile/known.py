"""Attacks that today's server does not withstand, each with its point in the list of what is to be
repaired. Whoever repairs one deletes its line: the suite fails for a line that is no longer true.
"""

KNOWN = {}

# Withstood in the sizes of the short form, and not in those of the long one.
KNOWN_LONG = {
    "broadcast_tracking": "C4",
    "long_names": "C4",
    "policy_list_pipeline": "D6",
}
