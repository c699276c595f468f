#include "algorithms/grant_log.h"

#include <algorithm>

#include "algorithms/instant.h"
#include "base/check.h"

namespace weir::algorithms {
namespace {

struct Log {
  uint64_t total = 0;         // all permits granted, less those given back
  uint64_t floor = 0;         // permits below this sum count no more, whatever their age
  int64_t newest_ns = 0;      // the latest stamp of any entry
  int64_t carried = 0;        // permits without an entry, from before a change of the width
  int64_t carried_at_ns = 0;  // their stamp
};

Log log_of(const State& state) {
  const auto& words = state.words;
  return {uint64_t(words[0]), uint64_t(words[1]), words[2], words[3], words[4]};
}

State grants_state(const Log& log) {
  return {.words = {int64_t(log.total), int64_t(log.floor), log.newest_ns, log.carried,
                    log.carried_at_ns}};
}

// The part of the log that counts at an instant.
struct LogSight {
  int64_t at_ns = 0;   // now, or the newest stamp if that is later
  size_t first = 0;    // the rank of the first entry young enough
  uint64_t base = 0;   // permits count from this sum on
  int64_t logged = 0;  // how many permits that are
  int64_t carried = 0;

  int64_t used() const { return logged + carried; }
};

int64_t permits_of(uint64_t distance) {
  return int64_t(std::min<uint64_t>(distance, uint64_t(kCapacityMax)));
}

size_t size_of(const Entries* entries) { return entries == nullptr ? 0 : entries->size(); }

LogSight sight_at(const GrantRules& rules, const Log& log, const Entries* entries, int64_t now_ns) {
  LogSight sight{.at_ns = std::max({now_ns, log.newest_ns, log.carried_at_ns}), .base = log.total};
  if (log.carried_at_ns + rules.hold_ns > sight.at_ns) sight.carried = log.carried;
  const size_t size = size_of(entries);
  sight.first = size;
  if (log.newest_ns + rules.hold_ns <= sight.at_ns) return sight;
  if (size > 0) sight.first = entries->lower_bound(sight.at_ns - rules.hold_ns + 1);
  if (sight.first == size) return sight;
  const uint64_t since_first = log.total - uint64_t(entries->entry(sight.first).permits);
  const uint64_t counting = std::min(since_first, log.total - log.floor);
  sight.base = log.total - counting;
  sight.logged = permits_of(counting);
  return sight;
}

// Answers the sum after the entry of this rank.
uint64_t sum_behind(const Log& log, const Entries& entries, size_t rank) {
  return rank + 1 < entries.size() ? uint64_t(entries.entry(rank + 1).permits) : log.total;
}

// Answers when `permits` of those in entries have come back. REQUIRES: 1 <= permits <=
// sight.logged.
int64_t logged_back_at(const GrantRules& rules, const Log& log, const Entries& entries,
                       const LogSight& sight, int64_t permits) {
  size_t low = sight.first, high = entries.size() - 1;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    // Negative for entries older than the base.
    const bool enough = int64_t(sum_behind(log, entries, middle) - sight.base) >= permits;
    (enough ? high : low) = enough ? middle : middle + 1;
  }
  return entries.entry(low).at_ns + rules.hold_ns;
}

// Answers when `permits` of all used ones have come back. REQUIRES: 1 <= permits <= sight.used().
int64_t back_at(const GrantRules& rules, const Log& log, const Entries* entries,
                const LogSight& sight, int64_t permits) {
  const auto logged_back = [&](int64_t some) {
    return logged_back_at(rules, log, *entries, sight, some);
  };
  if (sight.carried == 0) return logged_back(permits);
  int64_t with_carried_ns = log.carried_at_ns + rules.hold_ns;
  if (permits > sight.carried) {
    with_carried_ns = std::max(with_carried_ns, logged_back(permits - sight.carried));
  }
  return permits <= sight.logged ? std::min(with_carried_ns, logged_back(permits))
                                 : with_carried_ns;
}

int64_t all_back_at(const GrantRules& rules, const Log& log, const LogSight& sight) {
  int64_t back_ns = 0;
  if (sight.logged > 0) back_ns = log.newest_ns + rules.hold_ns;
  if (sight.carried > 0) back_ns = std::max(back_ns, log.carried_at_ns + rules.hold_ns);
  return back_ns;
}

int64_t stamp_at(const GrantRules& rules, const LogSight& sight) {
  return rules.width_ns == 1 ? sight.at_ns : sight.at_ns - sight.at_ns % rules.width_ns;
}

// Answers the stamp that a grant gets: the running one, but none older than the newest entry's.
int64_t entry_stamp_at(const GrantRules& rules, const Log& log, const LogSight& sight) {
  return std::max(stamp_at(rules, sight), log.newest_ns);
}

// Answers how many permits the running stamp has admitted.
int64_t granted_in_bucket(const GrantRules& rules, const Log& log, const Entries* entries,
                          const LogSight& sight) {
  if (rules.per_bucket == 0 || sight.logged == 0) return 0;
  const LogEntry last = entries->entry(entries->size() - 1);
  if (last.at_ns < stamp_at(rules, sight)) return 0;
  return permits_of(std::min(log.total - uint64_t(last.permits), log.total - sight.base));
}

// Answers how many permits the running stamp still admits.
int64_t bucket_room(const GrantRules& rules, const Log& log, const Entries* entries,
                    const LogSight& sight) {
  if (rules.per_bucket == 0) return rules.count;
  return std::max<int64_t>(0, rules.per_bucket - granted_in_bucket(rules, log, entries, sight));
}

Verdict verdict_at(const GrantRules& rules, const Log& log, const Entries* entries,
                   const LogSight& sight, int64_t now_ns) {
  const int64_t room = std::max<int64_t>(0, rules.count - sight.used());
  return {.allowed = true,
          .limit = rules.per_bucket == 0 ? rules.count : std::min(rules.count, rules.per_bucket),
          .remaining = std::min(room, bucket_room(rules, log, entries, sight)),
          .retry_after_ns = 0,
          .reset_after_ns = sight.used() == 0 ? 0 : all_back_at(rules, log, sight) - now_ns,
          .changed = false};
}

// Answers the first instant at which a denied cost fits.
int64_t fits_at(const GrantRules& rules, const Log& log, const Entries* entries,
                const LogSight& sight, int64_t cost) {
  int64_t fits_ns = 0;
  const int64_t missing = sight.used() + cost - rules.count;
  if (missing > 0) fits_ns = back_at(rules, log, entries, sight, missing);
  if (cost > bucket_room(rules, log, entries, sight)) {
    fits_ns = std::max(fits_ns, stamp_at(rules, sight) + rules.width_ns);
  }
  return fits_ns;
}

// Tells whether the oldest entry counts no more.
bool oldest_is_over(const GrantRules& rules, const Log& log, const Entries& entries,
                    int64_t at_ns) {
  if (entries.entry(0).at_ns + rules.hold_ns <= at_ns) return true;
  return log.total - sum_behind(log, entries, 0) >= log.total - log.floor;
}

// Removes entries that count no more, at most kPrunedMax. A log with nothing in it is as new.
void prune(const GrantRules& rules, Log& log, Entries& entries, int64_t at_ns) {
  for (int pruned = 0; pruned < kPrunedMax && entries.size() > 0; ++pruned) {
    if (!oldest_is_over(rules, log, entries, at_ns)) break;
    entries.erase(entries.entry(0).id);
  }
  if (log.carried_at_ns + rules.hold_ns <= at_ns || log.carried == 0) {
    log.carried = log.carried_at_ns = 0;
  }
  if (entries.size() > 0) return;
  log.total = log.floor = 0;
  log.newest_ns = log.carried_at_ns;
}

void grant(const GrantRules& rules, Log& log, Entries& entries, const LogSight& sight,
           int64_t cost) {
  const int64_t stamp_ns = entry_stamp_at(rules, log, sight);
  prune(rules, log, entries, sight.at_ns);
  const size_t size = entries.size();
  if (size == 0 || entries.entry(size - 1).at_ns < stamp_ns) {
    entries.put({.id = stamp_ns, .at_ns = stamp_ns, .permits = int64_t(log.total)});
  }
  log.total += uint64_t(cost);
  log.newest_ns = stamp_ns;
}

// Takes permits of the newest entries back. REQUIRES: 1 <= permits < sight.logged.
void take_back_newest(Log& log, Entries& entries, const LogSight& sight, int64_t permits) {
  log.total -= uint64_t(permits);
  const auto left = int64_t(log.total - sight.base);
  size_t size = entries.size();
  while (size - 1 > sight.first) {
    const LogEntry last = entries.entry(size - 1);
    if (int64_t(uint64_t(last.permits) - sight.base) < left) break;
    entries.erase(last.id);
    --size;
  }
  log.newest_ns = std::max(entries.entry(size - 1).at_ns, log.carried_at_ns);
}

}  // namespace

Verdict decide_by_log(const GrantRules& rules, State& state, const Request& request) {
  WEIR_REQUIRE(request.cost >= 0);
  const int64_t now_ns = clamp_instant(request.now_ns);
  Log log = log_of(state);
  LogSight sight = sight_at(rules, log, request.entries, now_ns);
  const Verdict plain = verdict_at(rules, log, request.entries, sight, now_ns);
  if (request.cost == 0) return plain;
  const int64_t most = request.force ? kCapacityMax - sight.used() : plain.limit;
  if (request.cost > most) return denied(plain, kNever);
  if (request.cost > plain.remaining && !request.force) {
    const int64_t fits_ns = fits_at(rules, log, request.entries, sight, request.cost);
    return denied(plain, fits_ns - now_ns);
  }
  Verdict taken = plain;
  taken.remaining = std::max<int64_t>(0, taken.remaining - request.cost);
  taken.reset_after_ns =
      std::max(all_back_at(rules, log, sight), entry_stamp_at(rules, log, sight) + rules.hold_ns) -
      now_ns;
  if (request.peek) return taken;
  WEIR_REQUIRE(request.entries != nullptr);
  grant(rules, log, *request.entries, sight, request.cost);
  state = grants_state(log);
  taken.changed = true;
  return taken;
}

int64_t owed_to_log(const GrantRules& rules, const State& state, const Entries* entries,
                    int64_t now_ns) {
  const Log log = log_of(state);
  const LogSight sight = sight_at(rules, log, entries, now_ns);
  int64_t owed = std::max<int64_t>(0, sight.used() - rules.count);
  if (rules.per_bucket > 0) {
    owed = std::max(owed, granted_in_bucket(rules, log, entries, sight) - rules.per_bucket);
  }
  return owed;
}

Verdict refund_to_log(const GrantRules& rules, State& state, const Refund& refund) {
  WEIR_REQUIRE(refund.permits >= 0);
  const int64_t now_ns = clamp_instant(refund.now_ns);
  Log log = log_of(state);
  LogSight sight = sight_at(rules, log, refund.entries, now_ns);
  const int64_t permits = std::min(refund.permits, sight.used());
  if (permits > 0) {
    const int64_t logged = std::min(permits, sight.logged);
    log.carried = sight.carried - (permits - logged);
    if (logged > 0 && logged == sight.logged) {
      log.floor = log.total;
      prune(rules, log, *refund.entries, sight.at_ns);
    } else if (logged > 0) {
      take_back_newest(log, *refund.entries, sight, logged);
    }
    if (log.carried == 0) log.carried_at_ns = 0;
    state = grants_state(log);
    sight = sight_at(rules, log, refund.entries, now_ns);
  }
  Verdict verdict = verdict_at(rules, log, refund.entries, sight, now_ns);
  verdict.changed = permits > 0;
  return verdict;
}

namespace {

// The entry of a charge in a log.
struct Charged {
  size_t rank = 0;
  int64_t live = 0;  // its permits that count
};

// Answers nothing if there is no such entry.
std::optional<Charged> charged_entry(const Log& log, const Entries* entries, const LogSight& sight,
                                     int64_t stamp_ns) {
  if (entries == nullptr || sight.logged == 0) return std::nullopt;
  const size_t rank = entries->lower_bound(stamp_ns);
  if (rank < sight.first || rank >= entries->size()) return std::nullopt;
  const LogEntry entry = entries->entry(rank);
  if (entry.at_ns != stamp_ns) return std::nullopt;
  const uint64_t end = sum_behind(log, *entries, rank);
  const int64_t permits = int64_t(end - uint64_t(entry.permits));
  return Charged{.rank = rank, .live = std::clamp<int64_t>(int64_t(end - sight.base), 0, permits)};
}

// Moves the sums of the entries from this rank on.
void move_sums(Log& log, Entries& entries, size_t first, int64_t by) {
  for (size_t rank = first; rank < entries.size(); ++rank) {
    LogEntry entry = entries.entry(rank);
    entry.permits = int64_t(uint64_t(entry.permits) + uint64_t(by));
    entries.put(entry);
  }
  log.total += uint64_t(by);
}

// Gives permits of the entry back. REQUIRES: 1 <= permits <= charged.live.
void give_back_charged(const GrantRules& rules, Log& log, Entries& entries, const LogSight& sight,
                       const Charged& charged, int64_t permits) {
  const size_t younger = entries.size() - charged.rank - 1;
  if (permits == sight.logged) {
    log.floor = log.total;
    prune(rules, log, entries, sight.at_ns);
  } else if (younger == 0) {
    take_back_newest(log, entries, sight, permits);
  } else if (younger <= kSumsMovedMax) {
    move_sums(log, entries, charged.rank + 1, -permits);
  } else {
    log.floor = sight.base + uint64_t(permits);
  }
}

}  // namespace

// Without an entry of its stamp a charge is among the carried permits, if it counts at all.
Verdict settle_in_log(const GrantRules& rules, State& state, const Settle& settle) {
  const int64_t now_ns = clamp_instant(settle.now_ns);
  Log log = log_of(state);
  LogSight sight = sight_at(rules, log, settle.entries, now_ns);
  const Verdict plain = verdict_at(rules, log, settle.entries, sight, now_ns);
  const int64_t more = settle.used - settle.charged;
  if (more == 0 || (settle.kept == nullptr && more < 0)) return plain;
  std::optional<Charged> charged;
  if (settle.kept != nullptr) {
    const Log then = log_of(*settle.kept);
    const LogSight at = {.at_ns = std::max({clamp_instant(settle.charged_at_ns), then.newest_ns,
                                            then.carried_at_ns})};
    const int64_t stamp_ns = entry_stamp_at(rules, then, at);
    if (stamp_ns + rules.hold_ns <= sight.at_ns) return plain;  // it is over
    charged = charged_entry(log, settle.entries, sight, stamp_ns);
  }
  if (more > kCapacityMax - sight.used()) return denied(plain, kNever);
  if (settle.peek) return plain;
  bool changed = true;
  if (more > 0) {
    const bool exact = charged && settle.entries->size() - charged->rank - 1 <= kSumsMovedMax;
    if (exact) {
      move_sums(log, *settle.entries, charged->rank + 1, more);
    } else {
      grant(rules, log, *settle.entries, sight, more);
    }
  } else if (const int64_t back = charged ? std::min(-more, charged->live) : 0; back > 0) {
    give_back_charged(rules, log, *settle.entries, sight, *charged, back);
  } else {
    changed = !charged && sight.carried > 0;
    log.carried = sight.carried - (changed ? std::min(-more, sight.carried) : 0);
    if (log.carried == 0) log.carried_at_ns = 0;
  }
  state = grants_state(log);
  Verdict verdict =
      verdict_at(rules, log, settle.entries, sight_at(rules, log, settle.entries, now_ns), now_ns);
  verdict.changed = changed;
  return verdict;
}

State carry_over_log(const GrantChange& change, const State& state, const Entries& entries) {
  Log log = log_of(state);
  const LogSight sight = sight_at(change.from, log, &entries, clamp_instant(change.now_ns));
  if (change.from.width_ns == change.to.width_ns) {
    log.floor = sight.base;
    log.carried = sight.carried;
    if (log.carried == 0) log.carried_at_ns = 0;
  } else {
    log.floor = log.total;
    log.carried = sight.used();
    log.carried_at_ns = stamp_at(change.to, sight);
  }
  return grants_state(log);
}

int64_t log_expires_at_ns(const GrantRules& rules, const State& state) {
  const Log log = log_of(state);
  int64_t expires_ns = 0;
  if (log.total != log.floor) expires_ns = log.newest_ns + rules.hold_ns;
  if (log.carried > 0) expires_ns = std::max(expires_ns, log.carried_at_ns + rules.hold_ns);
  return expires_ns;
}

void write_grants(const State& state, Writer& out) {
  const Log log = log_of(state);
  out.varint(log.total);
  out.varint(log.floor);
  out.varint(uint64_t(log.newest_ns));
  out.varint(uint64_t(log.carried));
  if (log.carried > 0) out.varint(uint64_t(log.carried_at_ns));
}

bool read_grants(Reader& in, State& state) {
  Log log{.total = in.varint(), .floor = in.varint()};
  log.newest_ns = int64_t(in.varint());
  log.carried = int64_t(in.varint());
  if (log.carried != 0) log.carried_at_ns = int64_t(in.varint());
  const auto instant = [](int64_t ns) { return ns >= 0 && ns <= kInstantNsMax; };
  if (!in.ok() || !instant(log.newest_ns) || !instant(log.carried_at_ns)) return false;
  if (log.carried < 0 || log.carried > kCapacityMax) return false;
  state = grants_state(log);
  return true;
}

}  // namespace weir::algorithms
