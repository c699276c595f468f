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
#include "server/commands/families.h"

namespace {

using weir::server::Command;

struct Group {
  const char* name;
  const char* title;
  const char* intro;
};

constexpr Group kGroups[] = {
    {"limiter", "Limiters",
     R"(Limits are written the same way in all `RL.*` commands, read from left to right:

    limits    := limit [limit ...]                        at most 16, numbered from 0
    limit     := ALGORITHM rate [option value ...] [ban] [AS name]
              |  rate [option value ...] [ban] [AS name]  a limit of GCRA: 100/1m BURST 20
              |  POLICY name                              the limits of a policy; one policy for a key
    ban       := BAN duration AFTER n WITHIN duration     n 1 to 64
    rate      := count/period | count PER period          100/1m, 20/100ms; 100/s or 100 PER second is 100/1s
    period    := [integer] unit
    duration  := integer unit
    time      := integer unit | milliseconds              10s, 10000: of LEASE, TIMEOUT, MAXWAIT and HOLD
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

A word is what its place makes it: keys, names of policies and values of options may look like a rate. The calendar's units
of ALIGN (MINUTE to MONTH) take a count without a period. [algorithms.md](algorithms.md) helps to choose. Several limits on one key are charged together or not at all.

`RL.TAKE`, `RL.PEEK`, `RL.REFUND` and `RL.ACQUIRE` answer six integers:

    1) allowed          1 or 0
    2) limit            capacity of the deciding limit
    3) remaining        whole permits left in it
    4) retry_after_ms   0 when allowed, -1 when it can never be allowed, else rounded up
    5) reset_after_ms   until it is full, rounded up; -1 if that never comes
    6) index            of the deciding limit

The deciding limit of a denial is the one with the longest wait, so waiting `retry_after_ms` is enough for all of them; when
allowed it is the one with the least remaining. `UPTO` adds the permits granted. Where a limit is CONCURRENCY, a granted
request adds the id of the lease (null if it took nothing); with HOLD it adds the id of the hold, which is the lease's as well. `RL.MTAKE` answers `[allowed, index of the deciding key or -1,
[six integers] for each key]`; when it is denied, a key that would have granted its part shows what it has, since nothing was
taken from it. Without EACH limit i is key i's; with it each key has as many as follow its EACH, and a policy if it is there:
`RL.MTAKE 2 user:42 tenant:7 EACH POLICY api EACH POLICY team 1000/1m`. COST counts the limits of all keys in order, and UPTO
takes the same from all. `RL.RESERVE` answers `[granted, wait_ms, id]`. `RL.REFUND key a,b` gives back what `COST a,b` took.

- **COST n** takes n permits (default 1); `COST a,b` one cost for each limit. COST 0 is allowed, and changes nothing.
- **UPTO** takes as many of n as all limits have, at least one.
- **SHADOW** tries a limit out: the request is let through whatever the limit says. The first field is always 1, and the sixth
  tells what would have been: -1 where the limit allows it, which is charged then as without SHADOW, and the index of the limit
  that would have denied it otherwise, which charges nothing. `RL.TAKE k GCRA 1/1m SHADOW` answers `[1,1,0,0,60000,-1]` at
  first and `[1,1,0,60000,60000,0]` when it is asked again. Such verdicts are no denials: they are counted as `shadow_denied`
  in INFO and by `RL.TOP SHADOW`.
- **FULL** answers a map in RESP3, flat pairs in RESP2, in place of the integers: `allowed`, `retry_ms`, `granted` (permits
  taken), `lease` (an id or null), `shadow` (1: a limit denies, and SHADOW lets it through), `banned` (1: a ban denies), with HOLD `hold` (an id or null), `policy` (its name or
  null) and `limits`, for each limit a map of `name`, `algorithm`, `capacity`, `remaining`, `reset_ms` and `window_ms` (its
  period; of CONCURRENCY the lease). RL.MTAKE answers `allowed`, `retry_ms`, `index` and `keys`, such a map for each key.
- **HEADERS** is FULL with `headers`, HTTP fields that are ready to be sent: `RateLimit: "api";r=20;t=48` and
  `RateLimit-Policy: "api";q=100;w=60` as draft-ietf-httpapi-ratelimit-headers-11 has them, one item for each limit (q and w are
  count and period; w is left out where the period is no whole number of seconds), and with a denial `Retry-After` in seconds,
  unless it is for ever.
- **FORCE** takes from every algorithm, into debt if need be, as far as its state reaches: 10^12 permits of windows and logs, 10^6
  of CONCURRENCY, 101 years of the others; beyond that it is denied, with a wait of -1. The answer shows the debt as a negative third field:
  `RL.TAKE k FIXED 10/1m COST 13 FORCE` answers `[1,10,-3,0,60000,0]`. Nothing more is granted until the debt is paid: by time as
  with any permit, or by RL.REFUND. What a window of FIXED owes ends with the window; CONCURRENCY's leases are given back as ever.
- **HOLD time** takes COST as an estimate, of tokens or bytes for instance, and holds it: the answer has an id more. **RL.SETTLE key
  id cost** (`cost,cost` one for each limit) then makes it what was really used: the rest is given back, or the missing permits are
  taken, into debt if need be. The answer is that of RL.REFUND for all limits of the key, the one with the least rest deciding; a debt
  is a negative third field. `RL.TAKE k FIXED 1000/1h COST 500 HOLD 60s` answers `[1,1000,500,0,3600000,0,id]`, and `RL.SETTLE k id
  120` answers `[1,1000,880,0,3600000,0]`. For 60 seconds the same RL.SETTLE gets the same answer, with another cost an error.
  - A hold that is not settled when it ends stays charged as estimated. RL.SETTLE of one that has ended, was cancelled or never was
    answers null. RL.CANCEL of a hold's id settles 0, and answers what that gave back. RL.RESET drops all holds.
  - A CONCURRENCY limit's lease has the hold's id. RL.SETTLE releases it, whatever the cost; RL.RELEASE and RL.RENEW are about the
    lease alone: the hold's end stays. A lease ends with its LEASE, a hold with its HOLD.
  - What is held is what was granted: with UPTO less than asked, with SHADOW and COST 0 perhaps nothing (null). A request that comes
    again with its ID has the same hold. RL.MTAKE answers an id for each key. RL.ACQUIRE holds from its grant on.
  - A hold lasts a day at most. A key has at most 65536 holds that have not ended. It lives until the last of them has, and they go where it goes: through
    restarts, RENAME, COPY, DUMP.
  - A settled charge is as if what was used had been taken by FORCE at the instant of the take; [algorithms.md](algorithms.md#use-first-settle-after)
    says for each algorithm how exactly. So large a debt that no state can hold it is denied, with a wait of -1; then the hold is
    still there. Where a limit's parameters have changed since, what of the charge is found in its window is settled of FIXED,
    SLIDINGCOUNTER and the logs; the other algorithms' limits keep the estimate.
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
- **ID token** makes a request safe to repeat: for 60 seconds the same token with the same arguments answers what it
  answered when it was granted, and takes nothing, also after a restart. Denials are not remembered.
- **TIMEOUT time** (0: for ever): RL.ACQUIRE waits in one first-in-first-out queue per key and is granted at the exact instant.
  While somebody waits, RL.TAKE and RL.RESERVE of the key are denied. It is refused at once when it can never be
  granted, or would be after its time-out. In a transaction or a script it does not wait.
- With an **ID**, RL.ACQUIRE has a ticket: when its connection is lost, its place is passed over and nothing is taken for it. Whoever
  asks again within 60 seconds, with the same ID and arguments, has the same place, so it comes before all who came later; its
  TIMEOUT begins anew. If a connection that waits with the ID is still there, it is answered an error, and the new one waits in its
  place. Tickets survive restarts: after one a place is kept until a minute after its TIMEOUT, for a day at most. So a client that gives up reading and asks again by itself loses no turn. A client that shares
  one connection between callers should not wait on it: RL.RESERVE answers at once how long the caller has to sleep.
  [calling.md](calling.md) says what each client library sends again by itself, and which settings a call that waits needs.
- With LEAKY, RL.ACQUIRE is a queue that drains at a constant rate: what the funnel lets in is answered when it leaves. What was
  let in under an ID leaves the funnel even if its connection is lost; who asks again is answered at that instant, or after it.
- **Changed parameters**: stored limits are matched by equal parameters, then by algorithm in order. What was used stays used:
  a customer who has used up `10/1m` and buys `1000/1m` has 990 at once, and one who goes back owes what is more than the
  smaller limit. So going to and fro between limits of one period grants no more than the larger alone. Between windows of
  different lengths what was used ends with the shorter one, and a debt of more than 101 years is cut.
- **ONCHANGE mode**, of a policy or after limits, says what else survives when parameters change: USED (so it is without the
  word), RESET (nothing: as new), ASIS (what is left), PROPORTIONAL (the share that is left), ADDITIVE (what is left, and what the
  capacity has gained). With the others, changing to and fro may grant more. A policy's is applied once for each SET. Where a
  TOKENBUCKET starts below full (INITIAL), and of what BURSTY has stored, USED keeps what is left; WARMUP keeps its share, and windows,
  logs and leases keep what was used. A limit no longer named
  stays with the key until it is full. It is never forgotten before: a request with which the key would hold more than
  16 limits is answered an error that says when the first of those not named is full.
- **A policy's effect.** `RL.POLICY SET name limits SHADOW` tries a policy out: its limits are decided and counted as with the
  word SHADOW, for every request that names it, and deny nothing. `PERCENT n` limits n percent of the keys, chosen by a hash that
  is the policy's own, and is in shadow for the others; a larger n adds keys and takes none away. `UNLIMITED` adds no limit, and `BLOCKED`
  denies: alone they answer `[1,-1,-1,0,0,-1]` and `[0,0,0,-1,-1,-1]`, with FULL an empty `limits`, with HEADERS no field of
  limits. They charge nothing, make no key and stand in no queue; what the key has used before is there when the policy
  has limits again. BLOCKED denies whatever stands beside it, COST 0 and FORCE as well. Beside UNLIMITED and SHADOW the request's own limits
  decide; what they grant is asked of a policy in shadow too, which is charged all or none of it. FORCE takes from a policy in shadow as
  from any. RL.ACQUIRE does not wait for what is in shadow, and RL.RESERVE grants it at once. COST with one cost for each limit counts the limits that
  are left; where none is left any number fits. RL.MTAKE is denied by a BLOCKED key, never by one in shadow; without EACH a policy
  without limits stands for as many keys as are left over. RL.REFUND, RL.INFO and RL.PEEK without limits are about the key, whatever a policy says.
- **Overrides.** `RL.POLICY OVERRIDE api KEY tenant:7 1000/1m` makes the policy another one for a key, `PREFIX tenant:vip: UNLIMITED` for all keys
  that begin so, in whatever database; `DEL` takes it back. The key's own comes before that of the longest prefix, and that before the policy. There may be
  millions: they leave memory as keys do. Prefixes of one policy have at most 8 different lengths. A policy's SHADOW and PERCENT go
  for the limits of its overrides, too, while an override that is UNLIMITED or BLOCKED holds in any case. RL.POLICY SET keeps
  them, DEL drops them, FLUSHALL leaves them. A key that gets an override, or loses it, changes over as the policy's ONCHANGE
  says. `RL.POLICY OVERRIDES api` walks them, the newest first, 100 at a time: `[cursor, [[KEY or PREFIX, name, effect] ...]]`; ask with the cursor until
  it is 0. None that stays is missed. In RL.MTAKE without EACH an override has as many limits as the policy that it is for.
- **RL.POLICY HISTORY** answers the last 16 changes of a policy by SET and DEL, the newest first: `time_ms` of the wall clock, the `user`, and what it was
  `before` as words, null where there was none. All policies together keep 2000, so a deleted one has its history until others have
  pushed it out. Words of more than 2048 bytes are cut.
- **A file of policies** (the option `policies-file`) has a line for each, `policy name` and the words of RL.POLICY SET, quoted as in
  weir.conf. It is read at the start, on SIGHUP and by `RL.POLICY RELOAD`, all of it or, where a line is wrong, nothing; the answer is
  what changed, `- name words` for what was and `+ name words` for what is, and `RL.POLICY RELOAD DIFF` answers that and changes
  nothing. The file owns the policies that it names: each reading makes them what it says, whatever RL.POLICY SET or DEL did in
  between, and deletes those that it named before and names no longer. Others stay as they are. Overrides stay with their policies.
- **RL.POLICY STATS** answers for a policy, or for each, how many verdicts there were under its name since the start or the last CONFIG
  RESETSTAT: `granted`, `denied`, and `shadow_denied`, which were let through. Requests of cost 0 and looks are none.
- **The option `limiting`** is an emergency's: in `shadow` every command of limiters is decided as with SHADOW, those of CL.THROTTLE, THROTTLE and GCRA too,
  and BLOCKED denies nothing either; `off` answers `[1,-1,-1,0,0,-1]` to all, whatever policy is named, and an untouched limit in the other
  dialects, and charges and gives back nothing. RL.REFUND, leases, bookings, RL.PEEK without limits and INCREX go on as ever.
- **RL.RESERVE** takes limits of @BOOKINGS@.
- **RL.CANCEL** of the booking that an RL.ACQUIRE waits for in a LEAKY queue: the waiting client is denied at once.
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
      {"@BOOKINGS@", weir::algorithms::bookable_names()},
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

void print_command(const Command& command) {
  std::printf(
      "| `%s%s%s` | %s | %s%s%s |\n", spelling(command).c_str(), command.usage.empty() ? "" : " ",
      // A bar ends a table's cell, also between backquotes.
      [&] {
        std::string usage;
        for (const char c : weir::server::usage_text(command.usage))
          usage += c == '|' ? std::string("\\|") : std::string(1, c);
        return usage;
      }()
          .c_str(),
      std::string(command.summary).c_str(),
      command.has(weir::server::kWrites)  ? "writes"
      : command.has(weir::server::kReads) ? "reads"
                                          : "",
      command.has(weir::server::kBlocking) ? ", may wait" : "",
      command.has(weir::server::kNoScript) ? ", not in scripts" : "");
}

}  // namespace

int main() {
  const weir::server::CommandTable table{weir::server::command_families()};
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
