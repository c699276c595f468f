#!/usr/bin/env python3
"""Plants each fault that tidy.py must find in a clean little tree, and sees that it is found."""

import tempfile
import unittest
from pathlib import Path

import tidy

tidy.FOLDER_FILES_MAX = 7  # so that a full folder is soon written


def headers(folder, count):
    return {f"{folder}/a{i}.h": "#pragma once\n" for i in range(count)}


def room(folder, name):
    """A row of the table, which names the rooms of the room."""
    inside = [inner for names in tidy.FLOORS.get(f"{folder}/{name}", []) for inner in names]
    return f"| `{folder}/{name}/` | {' '.join(f'`{inner}/`' for inner in inside)} |\n"


PAGE = ("# Page\n"
        + "".join(room(folder, name) for folder in ("storage", "server") for names in tidy.FLOORS[folder] for name in names)
        + "It calls `core/run/a_part.cc:f`.\n## Glossary\n- **a**: b.\n- **b**: c.\n## Why\n- **a**\n")


def page_with(change, instead):
    assert change in PAGE
    return PAGE.replace(change, instead)


CLEAN = {name: "clean\n" for name in tidy.TOP_LEVEL - tidy.FOLDERS - {"docs", ".ci"}} | {
    ".ci/run": "#!/bin/sh\n",
    ".gitignore": "/build/\nnode_modules/\n*.pyc\n",
    "docs/page.md": "# A page\n## The `one` thing\n",
    "ARCHITECTURE.md": PAGE,
    "clients/README.md": "A page.\n",
    "tools/run": "#!/bin/sh\n",
    "tests/resp/a_test.cc": '#include "resp/a.h"\n#include <gtest/gtest.h>\n',
    "algorithms/a.h": '#pragma once\n#include "base/a.h"\n',
    "base/a.h": "#pragma once\n",
    "storage/replication/a.cc": '#include "storage/format/codec.h"\n#include "storage/format/crc32c.h"\n',
    "storage/rocks/rocks_store.cc": "#include <rocksdb/db.h>\n",
    "storage/shared_logs/postgres/a.cc": "#include <libpq-fe.h>\n",
    "storage/shared_logs/nats/link.cc": "#include <nats/nats.h>\n",
    "resp/a.h": "#pragma once\n",
    "server/limiter/take/far.cc": '#include "server/limiter/take/far.h"\n',
    "server/limiter/take/far.h": "#pragma once\n",
    "server/limiter/take/near.cc": '#include "server/limiter/take/near.h"\n#include "server/limiter/take/far.h"\n',
    "server/limiter/take/near.h": "#pragma once\n",
    "server/net/listener.cc": '#include <boost/asio.hpp>\n#include "resp/a.h"\n',
    "server/script/run/engine.cc": "#include <luajit-2.1/lua.hpp>\n",
    "server/os/log.cc": "#include <spdlog/spdlog.h>\n",
    "server/limiter/take/single.cc": (
        "std::optional<SingleLimit> load_single(Call& call, int a) { return std::nullopt; }\n"
        "Result<int, ErrorReplied> read(Call& call) { return reply_error(call, kNone); }\n"
        "bool reads(Call& call) { return true; }\n"
        "void run(Call& call) { std::optional<int> a = f(call); call.reply.error(kNone); }\n"),
    "server/core/run/ok.cc": ('// rand() and system() only in a comment\nauto text = "sprintf(";\n'
                     "std::system_error error; auto big = 1'000'000; snprintf(a, 1, b);\n"
                     "using namespace std::chrono_literals; int d = config.dir + other.big;\n"),
    "server/core/run/a_part.cc": (
        "namespace weir::net {\nnamespace {\nint f(Part::Kind kind) { return Part::g(); }\n"
        "struct Near {};\nvoid Near::f() {}\n}\nstruct Told { int a; };\nPart::~Part() {}\nstd::function<void(int)> Part::g() {}\n"
        "int Part::Inner::f() {}\n}\n"),
    "server/core/run/another_part.cc": (
        "namespace weir::net {\nnamespace {\nstruct Near {};\nvoid Near::f() {}\n}\nstruct Told;\nint g(std::span<int> a) {}\n"
        "const int c = Part::h();\nint Parts::f(int a) {}\nclass Having { struct Told {}; };\n}\n"
        "namespace weir::resp {\nstruct Told {};\nvoid Part::f() {}\n}\n"),
} | headers("server/tls", 7) | headers("server/commands", 8) | headers("tests/server", 8)


def function_of(lines):
    return "int f(int a,\n      int b) const {\n" + "  g();\n" * (lines - 2) + "}\n"


def comment_of(mark, columns):
    return "// " + mark + "x" * (columns - 3 - len(mark)) + "\n"


def class_of(name, functions, members, overloads=0, pairs=0):
    public = "".join(f"  int f{i}(int a = g()) const {{ return {{}}; }}\n" for i in range(functions))
    public += "".join(f"  int f{i}(int a = g()) {{ return {{}}; }}\n" for i in range(pairs))
    public += "".join(f"  Part& part(std::array<int, {i}> a);\n" for i in range(overloads))
    private = "".join(f"  std::map<int, int> m{i}_ = {{}};\n" for i in range(members))
    return f"#pragma once\nclass {name} {{\n public:\n{public} private:\n{private}}};\n"


# What is planted where -> what tidy must say of it.
FAULTS = [
    ("stray.txt", "", "does not belong at the top level"),
    ("resp/b.cc", '#include "storage/store/store.h"\n', "resp/ must not include storage/"),
    ("storage/format/b.cc", '#include "algorithms/a.h"\n', "storage/ must not include algorithms/"),
    ("algorithms/b.cc", '#include "server/a.h"\n', "algorithms/ must not include server/"),
    ("base/b.h", '#pragma once\n#include "resp/a.h"\n', "base/ must not include resp/"),
    ("server/core/run/b.cc", '#include "tests/a.h"\n', "server/ must not include tests/"),
    ("server/core/run/b.cc", '#include "b.h"\n', "by its path from the root"),
    ("server/core/run/b.cc", '#include "server/../resp/a.h"\n', "by its path from the root"),
    ("server/core/run/b.cc", "#include <resp/a.h>\n", "in quotes"),
    ("server/core/run/executor.cc", "#include <boost/asio/post.hpp>\n", "Asio is not included here"),
    ("server/core/run/b.cc", "#include <rocksdb/db.h>\n", "RocksDB is not included here"),
    ("storage/store/store.cc", "# include <rocksdb/db.h>\n", "RocksDB is not included here"),
    ("storage/shared_logs/b.cc", "#include <libpq-fe.h>\n", "libpq is not included here"),
    ("storage/shared_logs/nats/b.cc", "#include <nats/nats.h>\n", "cnats is not included here"),
    ("server/http/b.cc", "#include <nghttp2/nghttp2.h>\n", "nghttp2 is not included here"),
    ("storage/shared_logs/b.cc", "clock_gettime(CLOCK_BOOTTIME, &now);\n", "time and randomness"),
    ("server/script/lua/b.cc", '#include "server/script/libraries/a.h"\n',
     "server/script/lua/ must not include server/script/libraries/"),
    ("server/core/run/b.cc", "#include <lua.hpp>\n", "Lua is not included here"),
    ("server/core/run/scripts.cc", "#include <lua.hpp>\n", "Lua is not included here"),
    ("server/commands/scripting.cc", "#include <lua5.1/lua.hpp>\n", "Lua is not included here"),
    ("server/os/b.cc", "#include <spdlog/spdlog.h>\n", "spdlog is not included here"),
    ("resp/b.cc", "#include <gtest/gtest.h>\n", "GoogleTest is not included here"),
    ("server/config/config.h",
     "#pragma once\nstruct Config {\n  std::string dir;\n  int64_t big = 10;\n};\n",
     "big: an option that nothing reads"),
    ("server/config/config.h",
     "#pragma once\nstruct Config {\n  std::map<int, int> big = {};  // of bytes\n  std::string dir;\n};\n",
     "big: an option that nothing reads"),
    ("server/b.cc", "", "server/ holds the folders of FLOORS alone"),
    ("server/room/b.cc", "", "server/ holds the folders of FLOORS alone"),
    ("storage/b.cc", "", "storage/ holds the folders of FLOORS alone"),
    ("storage/rocks/b.cc", '#include "storage/memtable/a.h"\n', "storage/rocks/ must not include"),
    ("storage/memtable/b.cc", '#include "storage/lists/a.h"\n', "storage/memtable/ must not include"),
    ("server/os/b.cc", '#include "server/config/a.h"\n', "server/os/ must not include"),
    ("server/script/run/b.cc", ' # include "server/core/run/a.h"\n', "server/script/ must not include"),
    ("server/acl/b.cc", '#include "server/pubsub/a.h"\n', "server/acl/ must not include"),
    ("server/commands/b.cc", '#include "server/net/a.h"\n', "server/commands/ must not include"),
    ("server/failover/b.cc", "", "server/failover/ holds the folders of FLOORS alone"),
    ("server/failover/copies/b.cc", '#include "server/failover/member/a.h"\n', "server/failover/copies/ must not include"),
    ("server/limiter/take/far.cc", '#include "server/limiter/take/near.h"\n', "a ring"),
    ("storage/replication/b.cc", '#include "storage/store/store.h"\n', "store.h is not included here"),
    ("storage/format/b.cc", '#include "storage/replication/a.h"\n', "storage/format/ must not include"),
    ("storage/replication/b.cc", "#include <boost/asio.hpp>\n", "Asio is not included here"),
    ("storage/replication/b.cc", "#include <chrono>\n", "are not seen here"),
    ("storage/replication/b.cc", "clock_gettime(CLOCK_BOOTTIME, &a);\n", "are arguments here"),
    ("resp/b.h", "// no guard\n", "#pragma once"),
    ("resp/b.h", "// #pragma once\n", "#pragma once"),
    ("server/core/run/b.cc", "int a;\nvoid f() { sprintf(b, c); }\n", "sprintf"),
    ("server/core/run/b.cc", "std::strcpy(b, c);\n", "strcpy"),
    ("server/core/run/b.cc", "int a = rand ();\n", "rand"),
    ("server/core/run/b.cc", "std::system(b);\n", "system"),
    ("server/core/run/b.cc", "std::regex a;\n", "std::regex"),
    ("tests/server/b_test.cc", "std::thread a(b);\n", "threads are"),
    ("server/limiter/take/b.cc", "auto* a = dynamic_cast<A*>(b);\n", "dynamic_cast"),
    ("server/core/run/b.cc", "using namespace std;\n", "using namespace std"),
    ("server/core/run/b.cc", "std::unordered_set<std::string_view> a;\n", "base/string_hash.h"),
    ("server/core/run/b.cc", "std::unordered_map<std::string, int> a;\n", "base/string_hash.h"),
    ("storage/format/b.cc", "std::hash<std::string_view>()(a);\n", "base/string_hash.h"),
    ("storage/rocks/rocks_filter.cc", "return Decision::kRemove" "AndSkipUntil;\n", "older value"),
    ("tests/server/deep/b_test.cc", "std::this_thread::sleep_for(1ms);\n", "do not sleep"),
    ("tests/server/b.cc", "usleep(1);\n", "do not sleep"),
    ("algorithms/b.cc", "auto now = std::chrono::system_clock::now();\n", "are arguments here"),
    ("tools/b.py", "a = 1\n" * 401, "401 lines"),
    ("server/tls/b.cc", "", "server/tls has 8 files of C++, 7 are allowed"),
    ("server/core/run/b.cc", "int a;\n" + function_of(71), "a function of 71 lines"),
    ("server/types/b.h", "#pragma once\nstd::optional<std::vector<int>> read(Call& call,\n"
     "                                     int a);\n", "in place of std::optional<std::vector<int>>"),
    ("server/types/b.cc", "bool fits(Call& call, int a) {\n  if (a > 1) {\n    return true;\n  }\n"
     '  call.reply.error("ERR a");\n  return false;\n}\n', "in place of bool"),
    ("server/core/run/b.cc", "const Row* Part::find(Call& call) const {\n  reply_error(call, kNone);\n"
     "  return nullptr;\n}\n", "Part::find: Result<T, ErrorReplied> in place of Row*"),
    ("server/core/run/b.h", class_of("Big", 36, 0), "Big has 36 functions"),
    ("server/core/run/b.h", class_of("Big", 30, 0, overloads=6), "Big has 36 functions"),
    ("server/core/run/b.cc", class_of("Big", 36, 0)[13:], "Big has 36 functions"),
    ("server/core/run/b.h", class_of("Server", 31, 0), "Server has 31 public functions"),
    ("storage/format/b.h", class_of("Keyspace", 31, 0), "Keyspace has 31 public functions"),
    ("storage/format/b.h", class_of("Keyspace", 15, 0, overloads=16), "Keyspace has 31 public functions"),
    ("storage/format/b.h", class_of("Keyspace", 1, 21), "Keyspace has 21 members"),
    ("server/core/run/b.h", class_of("Server", 1, 21), "Server has 21 members"),
    ("server/core/run/b.cc", "namespace weir::net {\nstd::map<int, std::vector<int>>\nPart::find(int a) {}\n}\n",
     "weir::net::Part has functions in server/core/run/a_part.cc already"),
    ("server/net/b.cc", "namespace weir {\nnamespace net {\nPart::Part() : a_(b()) {}\n}\n}\n",
     "weir::net::Part has functions in server/core/run/a_part.cc already"),
    ("server/net/b.cc", "namespace weir::net {\nbool Part::Inner::operator<(const Inner& a) const {}\n}\n",
     "weir::net::Part::Inner has functions in server/core/run/a_part.cc already"),
    ("server/net/b.h", "#pragma once\nnamespace weir::net {\nstruct Told { std::string b; };\n}\n",
     "weir::net::Told is a type in server/core/run/a_part.cc already"),
    ("ARCHITECTURE.md", PAGE + "word " * 3000, "3000 are allowed"),
    ("ARCHITECTURE.md", page_with("- **b**", "".join(f"- **c{i}**: d.\n" for i in range(40))),
     "a glossary of 41 words"),
    ("ARCHITECTURE.md", page_with("- **b**", "- **a**"), "a is explained twice"),
    ("ARCHITECTURE.md", page_with(".cc:f`", ".cc:Near`"), "core/run/a_part.cc has no Near()"),
    ("ARCHITECTURE.md", page_with(room("server", "acl"), ""), "the table lacks server/acl/"),
    ("ARCHITECTURE.md", page_with("`later/`", ""), "the table lacks server/limiter/later/"),
    ("ARCHITECTURE.md", room("server", "net") + page_with("\n" + room("server", "net"), "\n"), "comes after a higher floor"),
    ("docs/b.md", "TO" "DO: write\n", "unfinished work"),
    ("tools/b", "# FIX" "ME\n", "unfinished work"),
    ("docs/b.md", "see /wor" "k/main\n", "a foreign path"),
    ("tools/b", "cd /tmp/bui" "ld-x\n", "a foreign path"),
    ("server/core/run/b.cc", comment_of("1. ", 86) + "//    word\n// goes on\n", "it is torn"),
    ("server/core/run/b.cc", comment_of("", 86) + "// --+\n//    | a picture\n", "it is torn"),
    ("server/core/run/b.cc", comment_of("1. ", 86) + "// last.\n", "it is torn"),
    ("server/core/run/b.cc", "// What it is: see run/gone.h.\n", "run/gone.h: there is no such file"),
    ("server/core/run/b.cc", "int a;  // of (gone.h)\n", "gone.h: there is no such file"),
    ("tests/server/b.cc", "// See far.h.\n", "far.h: there is no such file"),
    ("docs/b.md", "It is in `other/far.h`.\n", "other/far.h: there is no such file"),
    ("tools/b", "# docs/gone.md says how.\n", "docs/gone.md: there is no such file"),
    ("docs/b.md", "[A page](gone.md)\n", "the link leads nowhere"),
    ("docs/b.md", "[A page](page.md#gone)\n", "page.md#gone: there is no such heading"),
    ("docs/b.md", "## One\n[One](#two)\n", "#two: there is no such heading"),
    ("server/core/run/b.cc", '// docs/page.md, "Gone", has more.\n', 'docs/page.md has no section "Gone"'),
    ("docs/b.md", 'See page.md section "Gone".\n', 'page.md has no section "Gone"'),
    ("server/core/run/b.cc", comment_of("", 101), "a comment of 101 columns"),
    ("server/net/b.cc", "std::list<int> tcp_doors_;\n", "tcp_doors_: not doors but listening socket"),
    ("server/core/run/b.h", "#pragma once\nclass HeldReplies;\n", "HeldReplies: not held replies but pending replies"),
    ("tests/server/b_test.cc", "TEST(MetricText, AStrangerSeesNone) {}\n", "not stranger but unauthenticated"),
    ("server/commands/b.cc", "for (const int kFamily : all) {}\n", "not family but command list"),
    ("storage/shared_logs/upkeep.cc", "", "upkeep: not upkeep but offline tools"),
    ("tests/server/b.cc", "int read(const INFOFigures& a);\n", "INFOFigures: not figures but metric"),
]


class TidyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for path, text in CLEAN.items():
            self.write(path, text)

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def complaints_with(self, path, text):
        """What is found while a file is another one, or there."""
        self.write(path, text)
        found = tidy.complaints(self.root)[1]
        if path in CLEAN:
            self.write(path, CLEAN[path])
        else:
            (self.root / path).unlink()
        return found

    def test_clean_tree(self):
        self.assertEqual(tidy.complaints(self.root)[1], [])

    def test_faults(self):
        for path, text, message in FAULTS:
            with self.subTest(path=path, message=message):
                found = self.complaints_with(path, text)
                self.assertEqual(len(found), 1, found)
                self.assertIn(found[0][0], (path, str(Path(path).parent)))
                self.assertIn(message, found[0][2])

    def test_a_ring_of_three(self):
        self.write("server/limiter/take/middle.h", '#pragma once\n#include "server/limiter/take/near.h"\n')
        self.assertEqual(tidy.complaints(self.root)[1], [])
        self.write("server/limiter/take/far.cc", '#  include "server/limiter/take/middle.h"\n')
        self.assertEqual([entry[0] for entry in tidy.complaints(self.root)[1]],
                         ["server/limiter/take/far.cc"])

    def test_a_ring_of_folders(self):
        self.write("server/http/v1/calls.h", "#pragma once\n")
        self.write("server/http/conversation.cc", '#include "server/http/v1/calls.h"\n')
        self.assertEqual(tidy.complaints(self.root)[1], [])
        self.write("server/http/message.h", "#pragma once\n")
        self.write("server/http/v1/problem.cc", '#include "server/http/message.h"\n')
        [(_, _, message)] = tidy.complaints(self.root)[1]
        self.assertIn("a ring of folders", message)

    def test_every_rule_has_a_fault(self):
        for rule in tidy.RULES:
            with self.subTest(rule=rule.__name__):
                without = [other for other in tidy.RULES if other is not rule]
                self.assertTrue(self.is_missed_without(without))

    def is_missed_without(self, rules):
        every, tidy.RULES = tidy.RULES, rules
        try:
            for path, text, _ in FAULTS:
                if not self.complaints_with(path, text):
                    return True
            return False
        finally:
            tidy.RULES = every

    def test_missing_entry(self):
        (self.root / "LICENSE").unlink()
        self.assertEqual(tidy.complaints(self.root)[1], [("LICENSE", 1, "is missing at the top level")])

    def test_what_is_ignored_may_lie_about(self):
        self.write("build/b.h", "using namespace std;\n")
        self.write("tests/node_modules/b.h", "using namespace std;\n")
        self.assertEqual(tidy.complaints(self.root)[1], [])

    def test_right_at_the_bounds(self):
        self.write("server/core/run/b.cc", function_of(70) + "int a;\n" * (tidy.LINES_MAX - 71))
        self.assertEqual(tidy.complaints(self.root)[1], [])

    def test_classes_at_their_bounds(self):
        self.write("server/core/run/b.h", class_of("Server", 10, 20, overloads=20))
        self.write("server/core/run/c.h", class_of("Other", 31, 50, overloads=4, pairs=5))
        self.write("server/config/config_options.cc", "int a;\n" * 401)
        self.assertEqual(tidy.complaints(self.root)[1], [])

    def test_comments_that_are_whole(self):
        self.write("server/core/run/b.cc", comment_of("1. ", 86) + "//    last.\n// 2. Another item.\n" +
                   comment_of("", 85) + "// word\n// goes on\n" + comment_of("", 100) + "// word\nint a;\n")
        self.assertEqual(tidy.complaints(self.root)[1], [])

    def test_what_is_named_and_is_there(self):
        self.write("server/limiter/later/b.cc", "// take/far.h, limiter/take/far.h, server/limiter/take/far.h; see\n"
                   '// docs/page.md, "The `one` thing". Not a file: <rocksdb/db.h>, *_test.cc, https://a.b/c.h\n')
        self.write("tests/server/limiter/take/b.cc", "// The invariants of far.h.\n")
        self.write("docs/b.md", "`take/far.h` [1](page.md#the-one-thing) [2](#b) [3](https://a.b/c) [4](../server)\n# B\n")
        self.assertEqual(tidy.complaints(self.root)[1], [])

    def test_words_that_mean_what_they_say(self):
        self.write("server/net/b.cc", "// The door to it, by a stranger; a family.\nauto a = \"figures\";\n"
                   "int indoor, outdoors, configured, sin_family, held, tail, Translated;\n")
        self.assertEqual(tidy.complaints(self.root)[1], [])

    def test_words_of_a_shard(self):
        self.write("storage/replication/b.cc", "int fold_, kBeatNs;\nvoid take_office();\nint folder, heartbeat, official;\n")
        self.assertEqual([entry[1:] for entry in tidy.complaints(self.root)[1]], [
            (1, "fold_: not fold but log state"), (1, "kBeatNs: not beat but heartbeat"),
            (2, "take_office: not office but role: promoted, demoted, primary")])

    def test_names_the_line(self):
        self.write("server/core/run/b.cc", '/* a\n b */\nauto c = R"(\n)";\nint a = rand();\n')
        self.assertEqual([entry[:2] for entry in tidy.complaints(self.root)[1]],
                         [("server/core/run/b.cc", 5)])


if __name__ == "__main__":
    unittest.main()
