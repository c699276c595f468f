"""The grammars, one table a file: a new group of commands is one table, named in TABLES."""

from tables import (cluster, connection, expiry, functions, hashes, keys, lists, scripts, sets,
                    strings, transactions, zsets)

TABLES = {
    "strings": strings.ROWS,
    "keys": keys.ROWS,
    "connection": connection.ROWS,
    "scripts": scripts.ROWS,
    "functions": functions.ROWS,
    "zsets": zsets.ROWS,
    "hashes": hashes.ROWS,
    "sets": sets.ROWS,
    "lists": lists.ROWS,
    "transactions": transactions.ROWS,
    "expiry": expiry.ROWS,
    "cluster": cluster.ROWS,
}
ALONE = {"transactions", "expiry"}  # not to be mixed with others in one stream
OF_CLUSTERS = {"cluster"}  # not to be asked without one
# What Redis has for each node, and weir's shards share, as they do scripts that are loaded.
OF_NODES = {"functions"}
