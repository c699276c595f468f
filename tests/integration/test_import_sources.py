"""--import from what is no Redis of today: a later one, and one that means no good."""

import harness
from importing import Importing
from redis_source import FakeSource, sealed


class Sources(Importing):
    def known_dump(self):
        with self.memory_server().connect() as client:
            client.call("SET", "a", "v")
            return client.call("DUMP", "a")

    def test_dumps_of_a_later_redis(self):
        """Redis 7.4 numbers its dumps anew; most of what is in them is as it was."""
        known = self.known_dump()
        later = (12).to_bytes(2, "little")
        with FakeSource({b"a": sealed(known[:-10] + later), b"times": sealed(b"\x19abc" + later),
                         b"broken": known[:-1] + b"?"}) as source:
            weir = self.memory_server()
            code, out, err = self.run_import(weir, f"redis://127.0.0.1:{source.port}/0")
        self.assertEqual((code, err), (2, ""), out)
        self.assertEqual(weir.call("GET", "a"), b"v")
        self.assertIn('such as "times": a hash whose fields expire', out)
        self.assertIn('such as "broken": weir answers: ERR DUMP payload', out)

    def test_a_source_that_lies(self):
        """What it answers in place of what was asked ends the import, and reaches no terminal raw."""
        known, weir = self.known_dump(), self.memory_server()
        page, zero, name = b"*2\r\n%s*1\r\n%s", b"$1\r\n0\r\n", b"$1\r\na\r\n"
        for replies, text in (
                ({b"PTTL": b"+soon\r\n"}, "answers DUMP and PTTL as no Redis does"),
                ({b"DUMP": b":7\r\n"}, "answers DUMP and PTTL as no Redis does"),
                ({b"SCAN": page % (b":0\r\n", name)}, "answers SCAN as no Redis does"),
                ({b"SCAN": page % (b"$0\r\n\r\n", name)}, "answers SCAN as no Redis does"),
                ({b"SCAN": page % (zero, b":1\r\n")}, "answers SCAN as no Redis does"),
                ({b"SCAN": b"*2\r\n" + zero + b"$1\r\na\r\n"}, "answers SCAN as no Redis does"),
                ({b"SCAN": b"-ERR \x1b]0;owned\x07\x1b[2J\x9b2J\r\n"}, "\\x1b]0;owned\\x07"),
                ({b"SCAN": page % (zero, b"$2000000\r\n%s\r\n" % (b"n" * 2_000_000))},
                 "its name has more than 1 MB"),
                ({b"TYPE": b"+\x1b[2J\x9b2J\r\n"}, "type \\x1b[2J\\x9b2J, which weir"),
                ({}, "copied: 1 keys")):
            with FakeSource({b"a": known}, replies) as source:
                code, out, err = self.run_import(weir, f"redis://127.0.0.1:{source.port}/0")
            self.assertIn(text, out + err)
            self.assertNotRegex(out + err, "[^ -~\n]")
            self.assertEqual(code, 2 if "its name" in text or b"TYPE" in replies else 1 if replies else 0, err)

    def test_a_source_without_an_end(self):
        """What would go on for ever, or takes memory without end, is told by one line."""
        weir, name = self.memory_server(), b"$1\r\na\r\n"

        def page(cursor, keys):
            text = str(cursor).encode()
            return b"*2\r\n$%d\r\n%s\r\n*%d\r\n" % (len(text), text, keys) + name * keys

        weir.call("SET", "a", "here already")
        nested = b"*1048576\r\n" + (b"*100000\r\n" + b"*0\r\n" * 100_000) * 11
        for replies, text in (
                ({b"SCAN": page(7, 0)}, "with the cursor that it was asked with, 7"),
                ({b"SCAN": page("5\r\nFLUSHALL", 0)}, "answers SCAN as no Redis does"),
                ({b"SCAN": page(0, 100_001)}, "answers SCAN with 100001 keys at once"),
                ({b"SCAN": (page(at, 100_000) for at in range(1, 99))},
                 "that it has 3 keys, and SCAN has told 1100000 and goes on"),
                ({b"INFO": nested}, "a million values")):
            with FakeSource({}, replies) as source:
                code, out, err = self.run_import(weir, f"redis://127.0.0.1:{source.port}/0")
            self.assertIn(text, err)
            self.assertEqual((code, len(err.splitlines())), (1, 2), err)
            self.assertNotIn("copied: 1", out)


if __name__ == "__main__":
    harness.main()
