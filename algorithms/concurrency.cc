// CONCURRENCY: a semaphore whose permits come back by themselves.
//
// The idea. It limits not a rate but the number of permits lent at once. A granted request gets a
// lease; its permits come back when the lease is released, or when it expires because its holder
// died.
//
// Source: the semaphore (E. Dijkstra, Cooperating Sequential Processes, 1965) with leases (C. Gray,
// D. Cheriton, Leases, 1989).
//
//                          now
//     lease 1  2 |----------|-->              expires first
//     lease 2         3 |---|------->         live permits 2 + 3 + 1 = 6
//     lease 3             1 |---------->
//
//     allowed      iff  live + cost <= n
//     remaining    =    n - live
//     retry_after  =    until enough leases have expired for the cost
//     reset_after  =    until the last lease expires
//
// Worked: n = 5, leases of 30 s. 2 at second 0, 3 at second 10: full. A cost of 3 at second 11
// needs both leases back, so it is told 29 s: second 40, not 30. If the second lease is released at
// second 12, the same cost is let in then.
//
// What the simple version gets wrong.
//  a. A counter that is raised and lowered loses a permit for every holder that dies. Here each
//     lease has its own expiry, and no job looks for dead holders.
//  b. Releasing by lowering the counter lets a holder whose lease has expired give back permits
//     that another holder has now. A lease is released by its id, once.
//  c. Counting the live leases walks all of them at every request, denied ones included. Sums over
//     chunks (lease_book.h) make that a short walk however many there are.
//
// The surprising consequence. Waiting out retry_after is enough but seldom necessary: a release may
// free the permits at any moment. And a holder that outlives its lease without renewing it runs
// beside the next one; the lease has to be longer than the work.
//
// What a clock step does. Back: leases last longer by the step. Forward: they expire earlier.
#include "algorithms/concurrency.h"

#include <algorithm>
#include <string>

#include "algorithms/grammar.h"
#include "algorithms/instant.h"
#include "algorithms/lease_book.h"
#include "base/check.h"

namespace weir::algorithms {
namespace {

constexpr int64_t kLatestNsMax = kInstantNsMax + kPeriodNsMax;
constexpr int64_t kSumMax = kCapacityMax * kLeasesMax;  // far above any real sum

Verdict verdict_at(const Limit& limit, int64_t live, int64_t latest_ns, int64_t now_ns) {
  return {.allowed = true,
          .limit = limit.capacity,
          .remaining = std::max<int64_t>(0, limit.count - live),
          .retry_after_ns = 0,
          .reset_after_ns = live == 0 ? 0 : latest_ns - now_ns,
          .changed = false};
}

Verdict decide_concurrency(const Limit& limit, State& state, const Request& request) {
  WEIR_REQUIRE(request.cost >= 0);
  const int64_t now_ns = clamp_instant(request.now_ns);
  LeaseBook book(state, request.entries);
  const int64_t live = book.live_at(now_ns);
  const Verdict plain = verdict_at(limit, live, book.latest_ns(), now_ns);
  if (request.cost == 0) return plain;
  const int64_t most = request.force ? kLeasesMax - live : limit.count;
  if (request.cost > most) return denied(plain, kNever);
  if (request.cost > plain.remaining && !request.force) {
    return denied(plain, book.back_at(now_ns, live + request.cost - limit.count) - now_ns);
  }
  const LogEntry lease{
      .id = request.lease_id, .at_ns = now_ns + limit.period_ns, .permits = request.cost};
  const int64_t latest_ns = live == 0 ? lease.at_ns : std::max(book.latest_ns(), lease.at_ns);
  Verdict taken = verdict_at(limit, live + request.cost, latest_ns, now_ns);
  if (request.peek) return taken;

  WEIR_REQUIRE(request.entries != nullptr && lease.id > 0);
  WEIR_REQUIRE(!request.entries->find(lease.id));
  book.prune(now_ns);
  book.add(lease);
  state = book.state();
  taken.changed = true;
  return taken;
}

int64_t owed_concurrency(const Limit& limit, const State& state, const Request& request) {
  return std::max<int64_t>(0,
                           LeaseBook(state, request.entries).live_at(request.now_ns) - limit.count);
}

// Leased permits come back only with their lease, so a refund changes nothing.
Verdict refund_concurrency(const Limit& limit, State& state, const Refund& refund) {
  WEIR_REQUIRE(refund.permits >= 0);
  const int64_t now_ns = clamp_instant(refund.now_ns);
  const LeaseBook book(state, refund.entries);
  return verdict_at(limit, book.live_at(now_ns), book.latest_ns(), now_ns);
}

Result<void, RangeError> check_concurrency(const Limit& limit) {
  if (limit.count < 1 || limit.count > kLeasesMax) {
    return RangeError{"n", std::to_string(limit.count), between(1, kLeasesMax)};
  }
  if (limit.period_ns < kPeriodNsMin || limit.period_ns > kPeriodNsMax) {
    return RangeError{"LEASE", format_duration(limit.period_ns),
                      between_durations(kPeriodNsMin, kPeriodNsMax)};
  }
  return {};
}

void derive_concurrency(Limit& limit) { limit.capacity = limit.count; }

bool same_concurrency(const Limit& a, const Limit& b) {
  return a.count == b.count && a.period_ns == b.period_ns;
}

State fresh_concurrency(const Limit&, int64_t) { return {}; }

// A lease lasts as long as it was granted for, whatever the new limit says.
State carry_over_concurrency(const Limit&, const Limit&, const State& state, const Entries&,
                             int64_t) {
  return state;
}

int64_t expires_concurrency(const Limit&, const State& state) {
  return LeaseBook(state, nullptr).latest_ns();
}

// DO NOT CHANGE: on disk.
void write_concurrency(const Limit&, const State& state, Writer& out) {
  for (const int64_t word : {state.words[0], state.words[1], state.words[2]}) {
    out.varint(static_cast<uint64_t>(word));
  }
}

bool read_concurrency(const Limit&, Reader& in, State& state) {
  const uint64_t sum = in.varint(), latest_ns = in.varint(), tail = in.varint();
  if (!in.ok() || sum > static_cast<uint64_t>(kSumMax) || tail > sum) return false;
  if (latest_ns > static_cast<uint64_t>(kLatestNsMax)) return false;
  state = {.words = {static_cast<int64_t>(sum), static_cast<int64_t>(latest_ns),
                     static_cast<int64_t>(tail)}};
  return true;
}

// Answers the lease if it has not expired.
std::optional<LogEntry> live_lease(const Entries& entries, const LeaseUse& use) {
  if (use.id <= 0) return std::nullopt;
  const auto lease = entries.find(use.id);
  return lease && lease->at_ns > clamp_instant(use.now_ns) ? lease : std::nullopt;
}

// CONCURRENCY n LEASE duration
constexpr Option kConcurrencyOptions[] = {
    {.name = "LEASE", .kind = Option::Kind::kLease, .required = true}};
Result<void, RangeError> concurrency_spec(const Written& written, LimitSpec& spec) {
  spec.count = spec.capacity = written.count;
  spec.period_ns = *written.values[0];
  return {};
}
Written concurrency_written(const Limit& limit) {
  Written written{.count = limit.count, .period_ns = std::nullopt, .values = {}, .implied = {}};
  written.set(0, limit.period_ns);
  return written;
}
constexpr Grammar kConcurrencyGrammar = {Grammar::Rate::kCount, kConcurrencyOptions,
                                         concurrency_spec, concurrency_written};

}  // namespace

constinit const Algorithm algorithm_concurrency = {
    .name = "CONCURRENCY",
    .id = 8,
    .grammar = &kConcurrencyGrammar,
    .options_used = 0,
    .makes_leases = true,
    .uses_entries = true,
    .has_rate = false,
    .check = check_concurrency,
    .derive = derive_concurrency,
    .same = same_concurrency,
    .fresh = fresh_concurrency,
    .decide = decide_concurrency,
    .owed = owed_concurrency,
    .refund = refund_concurrency,
    .carry_over_entries = carry_over_concurrency,
    .expires_at_ns = expires_concurrency,
    .write_state = write_concurrency,
    .read_state = read_concurrency,
};

int64_t release_lease(State& state, Entries& entries, const LeaseUse& use) {
  const auto lease = live_lease(entries, use);
  if (!lease) return 0;
  LeaseBook book(state, &entries);
  book.remove(*lease);
  state = book.state();
  return lease->permits;
}

int64_t renew_lease(const Limit& limit, State& state, Entries& entries, const LeaseUse& use) {
  auto lease = live_lease(entries, use);
  if (!lease) return 0;
  LeaseBook book(state, &entries);
  book.remove(*lease);
  lease->at_ns = std::max(lease->at_ns, clamp_instant(use.now_ns) + limit.period_ns);
  book.add(*lease);
  state = book.state();
  return lease->permits;
}

}  // namespace weir::algorithms
