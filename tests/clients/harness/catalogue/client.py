"""What one entry of the catalogue says."""

from dataclasses import dataclass
from typing import Callable

from ..installs import Missing

CLIENT_SECONDS_MAX = 90
SUITE_SECONDS_MAX = 300


@dataclass(frozen=True)
class Client:
    """A program that drives one library, or one bare client, against a server.

    `prepare` installs and answers (command, environment), or raises installs.Missing. `via` names
    the client that a limiter library speaks through, with its version; a bare client has none.
    `in_ci` picks what .ci/run tries: at least one of every language. There it is not run if it cannot be
    installed in `ci_install_seconds`, where that is not 0; what was built until then is there the next time.
    `configure` is what docs/clients.md says about pointing the library at weir, in Markdown.

    `owners` of more than 0 is a cluster of so many, of which the first is killed, or all of them.

    `log` of a shard of three members, "file" or "postgres", makes it a shard, beside a Redis master with
    its replicas and sentinels: who serves is killed, and then has to switch over. "": it is none. With
    `owners` of 1 the shard stands in that owner's place: who serves is killed.

    `is_suite` marks a library's own tests: its program says `ok` or `not ok` with the same name on
    both servers, exits with 0 and `done` whatever failed, and is judged by what fails on weir alone.
    `is_of_calls` marks what holds docs/calling.md to its word; docs/clients.md leaves it out.
    `beyond` are pairs (regular expression, words): a test of a suite whose `NAME: WHY` matches asks
    for something that weir does not claim to be, and the words say for what.
    """

    name: str
    title: str
    language: str
    protocols: tuple
    prepare: Callable
    via: str = ""
    in_ci: bool = False
    ci_install_seconds: int = 0
    configure: str = ""
    is_suite: bool = False
    is_of_calls: bool = False
    beyond: tuple = ()
    seconds_max: int = 0  # 0: the usual limit of its kind
    owners: int = 0
    kills_all_owners: bool = False
    log: str = ""

    def limit_seconds(self):
        return self.seconds_max or (SUITE_SECONDS_MAX if self.is_suite else CLIENT_SECONDS_MAX)


def absent(reason):
    """The `prepare` of what nobody can run here: it is listed as not run, for this reason."""
    def prepare():
        raise Missing(reason)
    return prepare
