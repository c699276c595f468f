// Prints docs/commands.md: every command's row, by group. `tools/docs/write` keeps the page; a test
// fails when it is stale.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/algorithm.h"
#include "algorithms/grammar.h"
#include "algorithms/limit_text.h"
#include "base/ascii.h"
#include "server/command/command_facts.h"
#include "server/command/command_table.h"
#include "server/command/usage.h"
#include "server/commands/command_lists.h"

namespace {

using weir::server::Command;

struct Group {
  const char* name;
  const char* title;
  const char* intro;
};

constexpr Group kGroups[] = {
    {"ratelimit", "Limiters",
     R"(Limits are written the same way in all `RL.*` commands, read from left to right:

    limits    := limit [limit ...]                        at most 16, numbered from 0
    limit     := ALGORITHM rate [option value ...] [ban] [AS name]
              |  rate [option value ...] [ban] [AS name]  a limit of GCRA: 100/1m BURST 20
              |  POLICY name                              the limits of a policy; one policy for a key
    adaptive  := ADAPTIVE min..max [SLOW time]            an option of GCRA, TOKENBUCKET and LEAKY
    ban       := BAN duration AFTER n WITHIN duration     n 1 to 64
    rate      := count/period | count PER period          100/1m, 20/100ms; 100/s or 100 PER second is 100/1s
    period    := [integer] unit
    duration  := integer unit
    time      := integer unit | milliseconds              10s, 10000: of TIMEOUT, MAXWAIT, SLOW and LATENCY; LEASE and HOLD are durations
    unit      := us ms s m h d w                           in lower case
              |  sec second[s] min minute[s] hour[s] day[s] week[s]        in any case

@GRAMMARS@
| option left out | means |
|---|---|
@DEFAULTS@
`CAPACITY c` of GCRA is `BURST c - 1`; both together are refused. RL.INFO and RL.POLICY GET show every limit with all its
options. **AS name** is what a limit is called in answers: 1 to 32 letters, digits, `_`, `.` and `-`, no two alike at a key; the
algorithm in lower case and the limit's number where it is left out (`gcra0`). A name is the request's or the policy's: stored
limits are found without it.

FIXED's calendar: windows begin at an **OFFSET** from UTC or, with **ZONE**, where the calendar of a time zone has them; the two
exclude one another. `FIXED 1000 ALIGN MONTH ON 31 ZONE Europe/Berlin` begins at midnight in Berlin, on the last day of a month
that has no 31st. ON goes with MONTH only. A zone is named as the server's tzdata writes it, letter for letter; where the server
has no tzdata, ZONE is refused. [clock.md](clock.md#windows-of-the-calendar) has the rest.

A word is what its place makes it: keys, names of policies and values of options may look like a rate. The calendar's units
of ALIGN (MINUTE to YEAR) take a count without a period. [algorithms.md](algorithms.md) helps to choose. Several limits on one key are charged together or not at all.

Each command below has a page with its options, its reply, its errors and examples. What several share is on the page where it
matters most: the six integers of a reply, COST, UPTO, SHADOW, FORCE, ID, FULL and HEADERS with [RL.TAKE](commands/rl.take.md), HOLD with
[RL.SETTLE](commands/rl.settle.md), waiting with [RL.ACQUIRE](commands/rl.acquire.md), policies with [RL.POLICY](commands/rl.policy.md).

- **BAN d AFTER n WITHIN w**, part of a limit, inline or in a policy: when the limit has denied n requests within w, the key is
  banned for d. The n-th is answered with the ban. While it runs, every request of the key that asks for permits is denied, whatever
  limits it names: `retry_after_ms` is the ban's rest, or the limits' own wait if that is longer; `banned` of FULL is 1. Such denials
  neither prolong it nor write anything, and do not count. After a ban n new denials are needed.
  - What counts are denials of RL.TAKE and RL.MTAKE by the limit itself, also those that can never be granted: the window slides
    exactly, a denial at t counts before t + w. Not counted are RL.PEEK, SHADOW, FORCE, COST 0, denials by another limit or by a
    queue, and RL.ACQUIRE and RL.RESERVE, which wait.
  - RL.ACQUIRE and RL.RESERVE of a banned key are denied at once, however long they would wait. FORCE, COST 0, RL.REFUND, RL.SETTLE
    and a request that comes again with its ID go on as ever; SHADOW lets through.
  - RL.RESET lifts a ban. A change of the limit does not: a ban that runs goes on to its end, though BAN is changed or taken away, and
    the denials so far count on under the new rule. Only ONCHANGE RESET begins anew. RL.PEEK shows a ban, RL.INFO as `banned_ms`; INFO
    counts `bans`; `banned` is an event of notify-keyspace-events' class r.
- **ADAPTIVE min..max**, an option of GCRA, TOKENBUCKET and LEAKY, inline or in a policy: the count is where the limit begins, and
  what callers tell of the service behind it, by [RL.REPORT](commands/rl.report.md) or
  [RL.POLICY REPORT](commands/rl.policy.md#rlpolicy-report), moves it between min and max. `RL.TAKE api 100/1s ADAPTIVE 10..500`:
  1 <= min <= count <= max, and each must be a count that the limit could have. Answers show the present capacity: the count,
  unless BURST or CAPACITY say otherwise, which stays as it was given. INITIAL and REFILL INTERVAL do not go with it. RL.INFO shows
  `adaptive`: count, bounds, whose the count is, and the last report.
- **Changed parameters**: stored limits are matched by equal parameters, then by algorithm in order. What was used stays used:
  a customer who has used up `10/1m` and buys `1000/1m` has 990 at once, and one who goes back owes what is more than the
  smaller limit. So going to and fro between limits of one period grants no more than the larger alone. Between windows of
  different lengths what was used ends with the shorter one, and a debt of more than 101 years is cut. A key that is used with one
  policy and then with another has the limits of both: what was used under the first counts under the second when that begins; then each
  goes on with its own count, and grants no more than it says.
- **ONCHANGE mode**, of a policy or after limits, says what else survives when parameters change: USED (so it is without the
  word), RESET (nothing: as new), ASIS (what is left), PROPORTIONAL (the share that is left), ADDITIVE (what is left, and what the
  capacity has gained). With the others, changing to and fro may grant more. A policy's is applied once for each SET. Where a
  TOKENBUCKET starts below full (INITIAL), and of what BURSTY has stored, USED keeps what is left; WARMUP keeps its share, and windows,
  logs and leases keep what was used. A limit no longer named
  stays with the key until it is full. It is never forgotten before: a request with which the key would hold more than
  16 limits is answered an error that says when the first of those not named is full.
- **The option `limiting`** is an emergency's: in `shadow` every command of limiters is decided as with SHADOW, those of CL.THROTTLE, THROTTLE and GCRA too,
  and BLOCKED denies nothing either; `off` answers `[1,-1,-1,0,0,-1]` to all, whatever policy is named, and an untouched limit in the other
  dialects, and charges and gives back nothing. RL.REFUND, leases, bookings, RL.PEEK without limits and INCREX go on as ever.
- The key's time to live follows from its state; an earlier EXPIRE is an early reset.)"},
    {"string", "Strings", ""},
    {"hash", "Hashes", ""},
    {"list", "Lists", ""},
    {"set", "Sets", ""},
    {"sorted-set", "Sorted sets", ""},
    {"generic", "Keys", ""},
    {"scripting", "Scripts", ""},
    {"transactions", "Transactions", ""},
    {"pubsub", "Publish and subscribe", ""},
    {"connection", "Connections", ""},
    {"cluster", "Cluster", ""},
    {"server", "Server", ""},
};

std::string grammars() {
  std::string text;
  for (const auto* algorithm : weir::algorithms::all_algorithms()) {
    text += "    " + weir::algorithms::grammar_text(*algorithm) + "\n";
  }
  return text;
}

// A row for each option, with all algorithms for which leaving it out means the same.
std::string defaults() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto* algorithm : weir::algorithms::all_algorithms()) {
    for (const auto& option : algorithm->grammar->options) {
      const std::string value = option.required ? "must be given" : std::string(option.left_out);
      const std::string end = " | " + value + " |\n";
      const std::string name = "| " + std::string(option.name) + " of ";
      const auto same = std::find_if(rows.begin(), rows.end(), [&](const auto& row) {
        return row.first.starts_with(name) && row.second == end;
      });
      if (same == rows.end()) {
        rows.emplace_back(name + std::string(algorithm->name), end);
      } else {
        same->first += ", " + std::string(algorithm->name);
      }
    }
  }
  std::string text;
  for (const auto& [names, end] : rows) text += names + end;
  return text;
}

// The text with what the algorithms' descriptors say in the places left for it.
std::string filled_in(std::string text) {
  const std::pair<const char*, std::string> places[] = {
      {"@GRAMMARS@", grammars()},
      {"@DEFAULTS@", defaults()},
  };
  for (const auto& [place, words] : places) {
    const size_t at = text.find(place);
    if (at != text.npos) text.replace(at, std::string_view(place).size(), words);
  }
  return text;
}

std::string spelling(const Command& command) {
  std::string name = weir::to_upper(command.name);
  const size_t bar = name.find('|');
  if (bar != name.npos) name[bar] = ' ';
  return name;
}

// The link to the page of a command that limits; a subcommand is a section of its command's page.
std::string link_of(const Command& command) {
  const auto categories = weir::server::acl_categories(command);
  const bool has_page = std::any_of(categories.begin(), categories.end(), [](const auto category) {
    return category.starts_with("ratelimit");
  });
  if (!has_page) return "";
  std::string name(command.name);
  const size_t bar = name.find('|');
  if (bar == name.npos) return "(commands/" + name + ".md)";
  std::string anchor = name;
  anchor[bar] = '-';
  anchor.erase(std::remove(anchor.begin(), anchor.end(), '.'), anchor.end());
  return "(commands/" + name.substr(0, bar) + ".md#" + anchor + ")";
}

void print_command(const Command& command) {
  const std::string link = link_of(command);
  std::printf(
      "| %s`%s%s%s`%s%s | %s | %s%s%s |\n", link.empty() ? "" : "[", spelling(command).c_str(),
      command.usage.empty() ? "" : " ",
      // A bar ends a table's cell, also between backquotes.
      [&] {
        std::string usage;
        for (const char c : weir::server::usage_text(command.usage))
          usage += c == '|' ? std::string("\\|") : std::string(1, c);
        return usage;
      }()
          .c_str(),
      link.empty() ? "" : "]", link.c_str(), std::string(command.summary).c_str(),
      command.has(weir::server::kWrites)  ? "writes"
      : command.has(weir::server::kReads) ? "reads"
                                          : "",
      command.has(weir::server::kBlocking) ? ", may wait" : "",
      command.has(weir::server::kNoScript) ? ", not in scripts" : "");
}

}  // namespace

int main() {
  const weir::server::CommandTable table{weir::server::shard_command_lists()};
  std::map<std::string_view, std::vector<const Command*>> groups;
  for (const Command* command : table.all()) {
    const auto subcommands = table.subcommands(*command);
    auto& group = groups[command->group];
    if (!command->has(weir::server::kContainer)) group.push_back(command);
    group.insert(group.end(), subcommands.begin(), subcommands.end());
  }
  std::printf(
      "# Commands\n\nWritten by `tools/docs/write` from the rows that the server itself reads; "
      "`COMMAND DOCS` and `HELP` say the same.\nWhere a command exists in Redis, it answers what "
      "Redis 7 "
      "answers, byte by byte; [differences.md](differences.md) lists what is\notherwise.\n");
  for (const Group& group : kGroups) {
    const auto found = groups.find(group.name);
    if (found == groups.end()) continue;
    std::printf("\n## %s\n\n", group.title);
    if (group.intro[0] != '\0') std::printf("%s\n\n", filled_in(group.intro).c_str());
    std::printf("| command | what it does | |\n|---|---|---|\n");
    for (const Command* command : found->second) print_command(*command);
    groups.erase(found);
  }
  for (const auto& [name, commands] : groups) {
    std::fprintf(stderr, "commands_page: no title for the group '%s'\n", std::string(name).c_str());
    return 1;
  }
}
