"""The grammars, one table a file: a new family of commands is one table, named in TABLES."""

from tables import connection, keys, strings

TABLES = {
    "strings": strings.ROWS,
    "keys": keys.ROWS,
    "connection": connection.ROWS,
}
