#include "server/limiter/take/queue.h"

#include <algorithm>

#include "base/heap_bytes.h"
#include "server/limiter/take/limiters.h"
#include "server/limiter/take/policy_effect.h"
#include "server/limiter/take/resolve.h"

namespace weir::server {
namespace {

using algorithms::kNever;

// Null: nobody waits to take. Other waiters may stand among those who do: sessions that wait for
// the key to become a list, for instance.
QueuedRequest* last_in_queue(Call& call, std::string_view key) {
  const auto& queue = call.limiters.waiting.queue(call.database, key);
  for (auto waiter = queue.rbegin(); waiter != queue.rend(); ++waiter) {
    call.work().charge_entries(1);
    if (QueuedRequest* last = (*waiter)->queued_request()) return last;
  }
  return nullptr;
}

// False: the request is answered without limits, or with an error.
bool find_part(Call& call, const QueuedRequest& waiting, DecidingPart* part) {
  const auto named = limits_of(call, waiting.key(), waiting.request());
  if (!named || has_fixed_answer(*named)) return false;
  *part = deciding_part(*named, named->limits, waiting.request());
  return true;
}

// Tells whether the same limits of a key decide about both, at the same costs.
bool ask_alike(const LimiterRequest& a, const LimiterRequest& b) {
  return a.policy == b.policy && a.policy_at == b.policy_at && a.costs == b.costs &&
         a.names == b.names && std::ranges::equal(a.limits, b.limits, algorithms::same_limit);
}

void join_all(Call& call, std::string_view key, SimulatedQueue* simulated) {
  const QueuedRequest* before = nullptr;
  DecidingPart part;  // of that one
  bool has_part = false;
  for (Waiter* waiter : call.limiters.waiting.queue(call.database, key)) {
    const QueuedRequest* next = waiter->queued_request();
    if (next == nullptr) continue;
    const bool is_alike = before != nullptr && ask_alike(before->request(), next->request());
    if (!is_alike) has_part = find_part(call, *next, &part);
    before = next;
    if (has_part) call.work().charge_entries(simulated->join(part, call.now_ns));
  }
}

// Answers the simulation of the key's queue. REQUIRES: has_queue().
KeptSimulation& simulation_of(Call& call, Limiter& limiter) {
  KeptSimulation& kept = *last_in_queue(call, limiter.key())->simulation;
  if (kept.is_good()) {
    kept.simulated->attach(call);
    return kept;
  }
  kept.watch = std::make_unique<KeyWatch>(call, limiter.key());
  kept.simulated = std::make_unique<SimulatedQueue>(call, limiter);
  kept.late_ns = 0;
  join_all(call, limiter.key(), kept.simulated.get());
  return kept;
}

DecidingPart deciding_part(Limiter& limiter, const LimiterRequest& request) {
  std::vector<algorithms::Limit> limits;
  for (const HeldLimit& held : limiter.named()) limits.push_back(held.limit);
  return server::deciding_part(limiter.names(), limits, request);
}

// Answers what UPTO asks for at least.
LimiterRequest least_of(const LimiterRequest& request) {
  LimiterRequest asked;
  asked.costs = request.costs;
  if (request.upto) asked.costs[0] = std::min<int64_t>(asked.costs[0], 1);
  return asked;
}

}  // namespace

size_t QueuedRequest::own_bytes() const {
  const size_t limits = request_.limits.size() + 1;  // a policy may have others
  const size_t watch = storage::Watches::memory_bytes(*key_);
  return block_bytes(sizeof(*this) + sizeof(int64_t)) + heap_bytes(*key_) + request_.heap_bytes() +
         block_bytes(sizeof(KeptSimulation) + sizeof(int64_t)) +
         SimulatedQueue::memory_bytes(limits) + watch;
}

bool has_queue(Call& call, std::string_view key) { return last_in_queue(call, key) != nullptr; }

bool is_next(Call& call, std::string_view key, int64_t rank) {
  for (Waiter* waiter : call.limiters.waiting.queue(call.database, key)) {
    call.work().charge_entries(1);
    if (waiter->queued_request() != nullptr) return waiter->rank > rank;
  }
  return true;
}

QueuedRequest* find_in_queue(Call& call, std::string_view key, std::string_view id) {
  for (Waiter* waiter : call.limiters.waiting.queue(call.database, key)) {
    call.work().charge_entries(1);
    QueuedRequest* other = waiter->queued_request();
    if (other != nullptr && other->request().id == id) return other;
  }
  return nullptr;
}

bool has_room_in_queue(Call& call, Limiter& limiter) {
  const size_t waiters = call.limiters.waiting.queue(call.database, limiter.key()).size();
  return (waiters + 1) * limiter.named().size() <= kQueueLimitsMax;
}

bool must_queue(Call& call, std::string_view key, const LimiterRequest& request) {
  return !request.force && request.asks() && has_queue(call, key);
}

SimulatedQueue::Place place_after_queue(Call& call, Limiter& limiter,
                                        const LimiterRequest& request) {
  const DecidingPart part = deciding_part(limiter, least_of(request));
  auto place = simulation_of(call, limiter).simulated->look(part, call.now_ns);
  place.index = part.places[place.index];
  call.work().charge_entries(place.looks);
  return place;
}

Answer denial_at(const SimulatedQueue::Place& place, int64_t now_ns) {
  Answer answer{.verdict = place.verdict,
                .index = static_cast<int64_t>(place.index),
                .algorithm = place.algorithm};
  answer.verdict.allowed = false;
  answer.verdict.remaining = 0;
  answer.verdict.retry_after_ns =
      place.at_ns == kNever ? kNever : std::max<int64_t>(place.at_ns - now_ns, 1);
  answer.verdict.reset_after_ns = place.full_at_ns == kNever ? kNever : place.full_at_ns - now_ns;
  return answer;
}

Answer denial_after_queue(Call& call, Limiter& limiter, const LimiterRequest& request) {
  return denial_at(place_after_queue(call, limiter, request), call.now_ns);
}

void join_simulation(Call& call, Limiter& limiter, QueuedRequest* joining) {
  KeptSimulation& kept = simulation_of(call, limiter);
  const DecidingPart part = deciding_part(limiter, joining->request());
  call.work().charge_entries(kept.simulated->join(part, call.now_ns));
  joining->simulation = last_in_queue(call, limiter.key())->simulation;
}

void join_unforeseen(Call& call, QueuedRequest* joining) {
  const QueuedRequest* last = last_in_queue(call, joining->key());
  joining->simulation = last == nullptr ? std::make_shared<KeptSimulation>() : last->simulation;
  joining->simulation->forget();
}

void forget_simulation(Call& call, std::string_view key) {
  if (const QueuedRequest* last = last_in_queue(call, key)) last->simulation->forget();
}

}  // namespace weir::server
