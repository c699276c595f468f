"""What the Python programs of this tree share; Python 3.11 and its standard library.

    resp          requests and replies of Redis' protocol, and a client
    waiting       waits for a condition, with an end
    processes     free ports, and programs that are started and ended
    fields        structured fields of HTTP, read strictly
    servers       weir-server, redis-server and their like as such programs
    certificates  made by openssl when a test runs

A program puts tests/ before its other paths and imports what it needs:

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from support.resp import Client

What is installed, and what people run by themselves (tools/weir-*), stands alone and imports nothing from here.
"""
