"""Every client and library that is tried: one entry each, made of what to run and how to get it.

Adding one is an entry in its language's file here, a program in its language's folder, and its
pinned version in that folder's lock file.
"""

from . import calls, cluster, debian, failover, go, java, language, node, packages, python, tls, tools
from .client import Client

ALL = [*tools.CLIENTS, *python.CLIENTS, *node.CLIENTS, *go.CLIENTS, *java.CLIENTS,
       *debian.CLIENTS, *calls.CLIENTS, *language.CLIENTS, *tls.CLIENTS, *cluster.CLIENTS,
       *failover.CLIENTS, *packages.CLIENTS]
# What one word on the command line stands for.
PARTS = ("calls", "language", "tls", "cluster", "failover", "package")


def chosen(names):
    """The clients of these names and parts, all without any; ValueError names one that is unknown."""
    known = {client.name: client for client in ALL}
    for name in names:
        if name not in known and name not in PARTS:
            raise ValueError(f"no client is called '{name}'; there are {', '.join(known)}, "
                             f"and the parts {', '.join(PARTS)}")
    return [client for client in ALL if not names or client.name in names or
            client.name.rpartition("-")[2] in set(names) & set(PARTS)]
