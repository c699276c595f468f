#!/usr/bin/env python3
"""Checks the rules of this tree that compilers do not know.

    tests/tidy/tidy.py [ROOT]       names each broken rule as path:line: message, and then fails

It reads text only: it runs nothing, changes nothing, and needs neither git nor a build.
Each rule is one function at RULES; tidy_selftest.py plants each fault once and sees it found.
"""

import re
import sys
from collections import Counter
from pathlib import Path

import architecture
import classes
from references import check_links, check_references, check_sections
from sources import CPP, read_tree, top_level_names
from torn import check_torn
from words import check_identifiers

CODE_FOLDERS = {"base", "server", "resp", "storage", "algorithms"}
FOLDERS = CODE_FOLDERS | {"tests", "tools", "clients"}
TOP_LEVEL = FOLDERS | {
    ".dockerignore", "CMakeLists.txt", "Dockerfile", "docs", "README.md", "ARCHITECTURE.md", "CHANGELOG.md",
    "CONTRIBUTING.md", "SECURITY.md", "weir.conf", "CMakePresets.json", ".clang-format", ".clang-tidy", ".ci", "LICENSE",
    ".gitignore"}

# A folder includes itself and what is named here; tests/ and tools/ include what they need.
MAY_INCLUDE = {folder: {folder, "base"} for folder in CODE_FOLDERS} | {"server": CODE_FOLDERS}

# The floors of a folder: a room includes those of the rows before it, not those of its own row.
# server/ itself holds server/main.cc alone, which includes what it needs.
FLOORS = {
    "server": [
        ["os"], ["config"], ["tls"], ["peer"], ["command"], ["report"], ["session"],
        ["waiting", "pubsub", "tracking", "acl", "rdb"],
        ["cluster"], ["limiter"], ["types"], ["script"], ["core"], ["commands"], ["failover"], ["offline"],
        ["http"], ["otlp"], ["net"],
    ],
    "storage": [["format"], ["store"], ["rocks", "memory", "memtable"], ["lists"], ["keyspace"], ["replication"],
                ["shared_logs"]],
    "server/limiter": [["counts", "entries"], ["policy"], ["take"], ["later"]],
    "server/script": [["lua"], ["libraries"], ["run"]],
    "server/core": [["clients"], ["disk"], ["shard"], ["run"], ["metrics"]],
    "server/failover": [["shared_log"], ["peers"], ["copies"], ["member"]],
}
FLOOR_OF = {f"{folder}/{name}": row for folder, rows in FLOORS.items()
            for row, names in enumerate(rows) for name in names}

# A part of a folder that may include less of its folder: the files it may. The first that fits.
NARROW = {"storage/replication/": r"base/|storage/(replication/|format/(codec|crc32c|shard_origin)\.h$)",
          # Names are looked up on a thread.
          "storage/shared_logs/": r"base/|storage/(replication/|shared_logs/|format/(codec|crc32c|file|status)\.h$|store/worker_thread\.h$)"}

# Third party, its include path, the only files of the server's code that may know it.
QUARANTINE = [
    ("Asio", r"boost/asio", r"server/(net/(listener|poller|handshakes|log_watch|daemon)[^/]*|main\.cc)$"),
    ("Boost.Beast", r"boost/beast", r"server/http/request_reader[^/]*$"),
    ("Boost.JSON", r"boost/json", r"(base/boost_json|server/http/format/json|storage/shared_logs/nats/answers)\.cc$"),
    ("OpenSSL", r"openssl/", r"server/(tls/|net/tls_stream|acl/sha256\.cc|script/lua/sha1\.cc)|storage/shared_logs/nats/encryption\.cc$"),
    ("RocksDB", r"rocksdb/", r"storage/rocks/"),
    ("libpq", r"(postgresql/)?(libpq|postgres_ext)", r"storage/shared_logs/postgres/"),
    ("cnats", r"nats/", r"storage/shared_logs/nats/(link\.cc|(encryption|refusals)\.(h|cc)|words\.h)$"),
    ("nghttp2", r"nghttp2/", r"server/http/grpc/http2\.cc$"),
    ("Lua", r"(lua[^/]*/)?(lua|luajit|lualib|lauxlib)\.hp*$", r"server/script/"),
    ("spdlog", r"spdlog/", r"server/os/log\.cc$"),
    ("GoogleTest", r"g(test|mock)/", r"(?!)"),
]

# Pattern, where it is banned, why.
BANNED = [
    (r"\bv?sprintf\s*\(", r"", "sprintf knows no bound"),
    (r"\bstr(cpy|cat|tok)\s*\(", r"", "strcpy, strcat and strtok know no bound or hide state"),
    (r"\bs?rand\s*\(", r"", "randomness is a seeded generator that is passed in"),
    (r"\bsystem\s*\(", r"", "no shell"),
    (r"\bstd::w?regex\b", r"", "std::regex recurses and is slow"),
    (r"\busing\s+namespace\s+std\s*;", r"", "no using namespace std"),
    (r"std::hash<std::string|unordered_(map|set)<std::string(_view)?(, [^,<>]*)?>",
     r"server/(?!command/command_table\.h|limiter/policy/request_cache\.cc)|storage/",
     "clients choose keys that collide: use base/string_hash.h"),
    (r"\bdynamic_cast\b", r"", "what a part can do is said where it is made (open_log.h) or by its own function"),
    (r"\b(std::(j?thread|async)|pthread_create)\b(?!::)", r"(?!storage/store/worker_thread\.h|tools/)",
     "threads are storage/store/worker_thread.h's alone, whose users ThreadSanitizer watches"),
    (r"\bkRemoveAndSkipUntil\b", r"", "it may bring an older value back to life"),
    (r"\b(u|nano)?sleep\s*\(|\bsleep_(for|until)\b", r"tests/", "tests do not sleep"),
    (r"_clock::now|\b(clock_gettime|gettimeofday|random_device)\b",
     r"(algorithms|resp|storage/(replication|shared_logs))/(?!nats/encryption\.cc)", "time and randomness are arguments here"),
    (r"#\s*include\s*<(chrono|ctime|time\.h|sys/time\.h|random|thread|mutex|fstream|future)>",
     r"storage/replication/", "time, randomness, threads and files are not seen here"),
]

LINES_MAX = 400
FUNCTION_LINES_MAX = 70
# path -> the reason why it is longer
LONG_FILES = {"server/config/config_options.cc": "a table: one row per option, and nothing to understand across rows"}

# A folder of more C++ files than one overlooks becomes rooms. Those of leaves may be larger: their
# files are all of one kind, and are found by their names.
FOLDER_FILES_MAX = 45
LARGE_FOLDERS = {
    "server/commands": "a file for each list of commands",
    "algorithms": "a file for each algorithm",
}

# No class holds the house up: functions in all, and for those that put others together functions
# that are public and members. Each overload counts; of the former a pair, const and not, counts once.
CLASS_FUNCTIONS_MAX = 35
FACADES = {"Server", "Keyspace"}
FACADE_PUBLIC_MAX = 30
FACADE_MEMBERS_MAX = 20

# Functions that take a Call, and whose empty optional, null or false means what it says here and
# not that an error has been replied.
MEANINGS = {
    "Engine::run": "the script was stopped, and is to be taken back",
    "cancel": "there is no such booking",
    "cancel_all": "there is no such booking",
    "decide_first": "the limits decide",
    "denied_by_queue": "nobody waits before the request",
    "find_ticket": "nobody waits under the ID",
    "load_single": "the key is not of the common case",
    "recalled": "the request was never seen, and nothing was replied",
    "take_few": "the request is not of the common case",
    "take_few_of_each": "the request is not of the common case",
    "take_single": "the request is not of the common case",
    "value_of": "the element has no such value",
}

SOURCE = CPP | {".py", ".sh", ".js", ".mjs", ".ts", ".go", ""}

UNFINISHED = re.compile(r"\b(T[O]DO|F[I]XME|X[X]X)\b")
FOREIGN_PATH = re.compile(r"(?<![\w.})])/((work|root)/|tmp/build)")


def matches(pattern, file, text):
    for match in re.finditer(pattern, text):
        yield file.path, text.count("\n", 0, match.start()) + 1, match


def check_top_level(root, files):
    names = top_level_names(root)
    for name in sorted(names - TOP_LEVEL):
        yield name, 1, "does not belong at the top level"
    for name in sorted(TOP_LEVEL - names):
        yield name, 1, "is missing at the top level"


def check_includes(root, files):
    for file in files:
        narrow = next((allowed for part, allowed in NARROW.items() if file.path.startswith(part)), "")
        for path, line, match in matches(r'(?m)^\s*#\s*include\s*([<"])([^>"]+)', file,
                                         file.text if file.is_cpp else ""):
            quoted, target = match[1] == '"', match[2]
            folder = target.split("/")[0]
            if quoted and (folder not in FOLDERS or "/../" in target):
                yield path, line, f"include {target} by its path from the root"
            elif quoted and folder not in MAY_INCLUDE.get(file.folder, FOLDERS):
                yield path, line, f"{file.folder}/ must not include {folder}/"
            elif quoted and not re.match(narrow, target):
                yield path, line, f"{target} is not included here"
            elif not quoted and folder in FOLDERS:
                yield path, line, f'include "{target}" in quotes'
            for name, pattern, where in QUARANTINE:
                if (file.folder in CODE_FOLDERS and re.match(pattern, target)
                        and not re.match(where, path)):
                    yield path, line, f"{name} is not included here"


def check_floors(root, files):
    for file in files:
        if not file.is_cpp or file.path == "server/main.cc":
            continue
        for folder in FLOORS:
            if not file.path.startswith(folder + "/"):
                continue
            room = "/".join(file.path.split("/")[:folder.count("/") + 2])
            if room not in FLOOR_OF:
                yield file.path, 1, f"{folder}/ holds the folders of FLOORS alone, and server/ main.cc"
                continue
            for path, line, match in matches(rf'(?m)^\s*#\s*include\s*"({folder}/[a-z_]+)/', file, file.text):
                target = match[1]
                if target != room and FLOOR_OF.get(target, len(FLOOR_OF)) >= FLOOR_OF[room]:
                    yield path, line, f"{room}/ must not include {target}/"


def includes(files):
    """(unit, the unit that it includes, where) of all code; a unit is a header with its .cc."""
    for file in files:
        if not file.is_cpp or file.folder not in CODE_FOLDERS:
            continue
        for path, line, match in matches(r'(?m)^\s*#\s*include\s*"([^"]+)\.h"', file, file.text):
            yield str(Path(file.path).with_suffix("")), match[1], (path, line)


def rings(edges):
    """Those of (one, another, where) that close a ring, told at the one that comes first in the alphabet."""
    graph = {}
    for one, another, where in edges:
        if one != another:
            graph.setdefault(one, {}).setdefault(another, where)

    def reaches(one, goal, seen):
        seen.add(one)
        return one == goal or any(reaches(another, goal, seen) for another in graph.get(one, {})
                                  if another not in seen and another >= goal)

    for one, others in graph.items():
        for another, where in others.items():
            if another > one and reaches(another, one, set()):
                yield another, where


def folder_of(unit):
    return unit.rpartition("/")[0]


def check_rings(root, files):
    """Units of a folder include one another in no ring, so that each can be read before those that include it, and
    neither do the folders of a room (check_floors has rooms)."""
    all_includes = list(includes(files))
    for unit, (path, line) in rings(edge for edge in all_includes if folder_of(edge[0]) == folder_of(edge[1])):
        yield path, line, f"{unit}.h includes this file again: a ring"
    within = [(folder_of(one), folder_of(another), where) for one, another, where in all_includes]
    for folder, (path, line) in rings(edge for edge in within if edge[0].split("/")[:2] == edge[1].split("/")[:2]):
        yield path, line, f"{folder}/ includes this folder again: a ring of folders"


def check_options_are_read(root, files):
    """Each field of Config is named by some file that is not the configuration's own, but for the
    values that are kept to be shown alone."""
    header = next((file for file in files if file.path == "server/config/config.h"), None)
    if header is None:
        return
    body = header.code[header.code.find("struct Config {"):]
    body = body[:body.find("\n};")]
    others = "\n".join(file.code for file in files if file.path.startswith("server/")
                       and not file.path.startswith("server/config/"))
    for match in re.finditer(r"(?m)^  [\w:][\w:<>, ]* (\w+)(?: = [^;]*)?;\s*$", body):
        if match[1] != "ignored" and not re.search(r"\bconfig(_|\(\))?(\.|->)" + match[1] + r"\b", others):
            line = header.code.count("\n", 0, header.code.find(body) + match.start()) + 1
            yield header.path, line, f"{match[1]}: an option that nothing reads"


def check_pragma_once(root, files):
    for file in files:
        if file.suffix == ".h" and not re.search(r"(?m)^#pragma once$", file.code):
            yield file.path, 1, "a header needs #pragma once"


def check_banned(root, files):
    for file in files:
        for pattern, where, why in BANNED:
            if re.match(where, file.path):
                for path, line, match in matches(pattern, file, file.code):
                    yield path, line, f"{match[0].strip('( ')}: {why}"


def check_length(root, files):
    for file in files:
        if (file.folder in FOLDERS and file.suffix in SOURCE and len(file.lines) > LINES_MAX
                and file.path not in LONG_FILES):
            yield file.path, LINES_MAX, f"{len(file.lines)} lines, {LINES_MAX} are allowed"


def folder_sizes(files):
    """Folder -> how many C++ files it has, without those of its folders."""
    return Counter(file.path.rpartition("/")[0] for file in files
                   if file.is_cpp and file.folder in CODE_FOLDERS)


def check_folder_size(root, files):
    for folder, count in folder_sizes(files).items():
        if count > FOLDER_FILES_MAX and folder not in LARGE_FOLDERS:
            yield folder, 1, f"{folder} has {count} files of C++, {FOLDER_FILES_MAX} are allowed"


def check_function_length(root, files):
    """A brace after a parameter list opens a function unless it lies inside one."""
    opener = re.compile(r"\)(\s|const|noexcept|override|final|mutable|->[\w:<>*&, ]+)*$")
    for file in files:
        depth, start = 0, None
        for match in re.finditer(r"[{}]", file.code):
            at = match.start()
            if match[0] == "{":
                if start is None and opener.search(file.code[max(0, at - 200):at]):
                    start = (depth, file.code.count("\n", 0, at) + 1)
                depth += 1
                continue
            depth -= 1
            if start and start[0] == depth:
                lines = file.code.count("\n", 0, at) + 2 - start[1]
                if lines > FUNCTION_LINES_MAX:
                    yield (file.path, start[1],
                           f"a function of {lines} lines, {FUNCTION_LINES_MAX} are allowed")
                start = None


def body_of(code, brace):
    """The text from an opening brace to the one that closes it."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, brace):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return code[brace:match.end()]
    return code[brace:]


def check_error_replied(root, files):
    """A function of server/ that can reply does not answer an optional, and one that replies an
    error answers neither bool nor a pointer: Result<T, ErrorReplied> tells its caller to return."""
    signature = (r"(std::optional<[^;{}()=]*>|\bbool|\b[\w:]+ ?\*)\s+([\w:]+)"
                 r"\(([^(){};]*\b(?:Call|ReplyWriter) ?[&*][^(){};]*)\)[\w\s]*([;{])")
    for file in files:
        if file.folder != "server" or not file.is_cpp:
            continue
        for path, line, match in matches(signature, file, file.code):
            replies = match[4] == "{" and re.search(
                r"\breply(\.|->|_)error ?\(", body_of(file.code, match.start(4)))
            if match[2] not in MEANINGS and ("optional" in match[1] or replies):
                yield path, line, f"{match[2]}: Result<T, ErrorReplied> in place of {match[1]}"


def all_classes(files):
    for file in files:
        if file.is_cpp and file.folder in CODE_FOLDERS:
            yield from ((file, found) for found in classes.classes_of(file.code))


def check_classes(root, files):
    for file, found in all_classes(files):
        counts = [(len(found.functions), CLASS_FUNCTIONS_MAX, "functions")]
        if found.name in FACADES:
            counts += [(found.public, FACADE_PUBLIC_MAX, "public functions"),
                       (found.members, FACADE_MEMBERS_MAX, "members")]
        for count, allowed, what in counts:
            if count > allowed:
                yield file.path, found.line, f"{found.name} has {count} {what}, {allowed} are allowed"


def check_one_file_per_class(root, files):
    """A class whose functions are spread over several .cc files has several duties."""
    first = {}
    for file in files:
        if file.suffix != ".cc" or file.folder not in CODE_FOLDERS:
            continue
        for name, line in classes.defined_classes(file.code).items():
            if first.setdefault(name, file.path) != file.path:
                yield file.path, line, f"{name} has functions in {first[name]} already"


def check_one_name_per_type(root, files):
    yield from classes.doubled_types(file for file in files if file.is_cpp)


def largest_classes(files):
    rows = sorted(((len(found.functions), found.members, found.name) for _, found in all_classes(files)),
                  reverse=True)
    return ", ".join(f"{name} {functions}/{members}" for functions, members, name in rows[:5])


def check_words(root, files):
    for file in files:
        for pattern, what in ((UNFINISHED, "unfinished work"), (FOREIGN_PATH, "a foreign path")):
            for path, line, match in matches(pattern, file, file.text):
                yield path, line, f"{match[0]}: {what}"


def check_architecture(root, files):
    yield from architecture.complaints(files, FLOORS)


RULES = [check_top_level, check_includes, check_floors, check_rings, check_options_are_read,
         check_pragma_once, check_banned, check_length, check_folder_size, check_function_length,
         check_error_replied, check_classes, check_one_file_per_class, check_one_name_per_type, check_words, check_torn, check_identifiers,
         check_references, check_links, check_sections, check_architecture]


def complaints(root):
    files = read_tree(root)
    found = {complaint for rule in RULES for complaint in rule(root, files)}
    return files, sorted(found)


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    files, found = complaints(root)
    for path, line, message in found:
        print(f"{path}:{line}: {message}")
    print(f"the largest classes, functions/members: {largest_classes(files)}")
    largest = ", ".join(f"{folder} {count}" for folder, count in folder_sizes(files).most_common(5))
    print(f"the largest folders, files of C++: {largest}")
    print(f"tidy: {len(files)} files, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
