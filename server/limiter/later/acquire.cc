#include "server/limiter/later/acquire.h"

#include <algorithm>
#include <memory>

#include "server/limiter/later/bookings.h"
#include "server/limiter/later/departure.h"
#include "server/limiter/take/decide.h"
#include "server/limiter/take/full_answer.h"
#include "server/limiter/take/limiters.h"
#include "server/limiter/take/policy_effect.h"
#include "server/limiter/take/queue.h"
#include "server/limiter/take/record.h"
#include "server/limiter/take/remembered.h"
#include "server/limiter/take/resolve.h"
#include "server/session/session.h"

namespace weir::server {
namespace {

using algorithms::kNever;

bool is_enforced_queue(const HeldLimit& held) {
  return held.limit.algorithm->queues && held.mode == algorithms::Mode::kEnforced;
}

// Answers the instant `duration_ns` from now; kNever stays never.
int64_t after(int64_t now_ns, int64_t duration_ns) {
  return duration_ns > kNever - now_ns ? kNever : now_ns + duration_ns;
}

enum class TryEnd { kReplied, kDenied, kDeparts };

// One try to take. With kDenied `answer` has the wait; nothing was taken or replied.
struct Try {
  TryEnd outcome = TryEnd::kReplied;
  Answer answer;
  bool final = false;                   // waiting would not help
  int64_t due_ns = algorithms::kNever;  // when to try again if no command touches the key
  std::unique_ptr<Waiter> departure = nullptr;
};

// Answers how long until a request that is let in now has left every funnel among its limits.
int64_t departure_after(Limiter& limiter, const LimiterRequest& request, int64_t now_ns) {
  int64_t wait_ns = 0;
  const auto limits = limiter.named();
  for (size_t i = 0; i < limits.size(); ++i) {
    if (!is_enforced_queue(limits[i])) continue;
    algorithms::State copy = limits[i].state;
    const auto booking =
        algorithms::reserve(limits[i].limit, copy, {.now_ns = now_ns, .cost = request.cost(i)});
    wait_ns = std::max(wait_ns, booking.wait_ns);
  }
  return wait_ns;
}

bool funnel_denies(Limiter& limiter, const LimiterRequest& request, int64_t now_ns) {
  const auto limits = limiter.named();
  for (size_t i = 0; i < limits.size(); ++i) {
    if (is_enforced_queue(limits[i]) &&
        !algorithms::peek(limits[i].limit, limits[i].state, now_ns, request.cost(i)).allowed) {
      return true;
    }
  }
  return false;
}

// Answers when the key will have expired: its end may come before anything is refilled.
int64_t gone_from_ns(Call& call, std::string_view key) {
  const storage::Ref ref = call.look_up(key);
  const int64_t last_ms = ref.exists() ? ref.expire_at_ms() : 0;
  if (last_ms == 0 || last_ms >= kNever / kNsPerMs) return kNever;
  return (last_ms + 1) * kNsPerMs;
}

std::vector<algorithms::State> states_of(std::span<const HeldLimit> limits) {
  std::vector<algorithms::State> states;
  for (const HeldLimit& held : limits) states.push_back(held.state);
  return states;
}

// What the request was charged: nothing of a limit in shadow that denied, whose state is as before.
std::vector<MadeCharge> charges_since(std::span<const HeldLimit> limits,
                                      std::span<const algorithms::State> before,
                                      const LimiterRequest& request) {
  std::vector<MadeCharge> made;
  for (size_t i = 0; i < limits.size(); ++i) {
    const bool charged = !std::ranges::equal(before[i].words, limits[i].state.words);
    made.push_back({.permits = charged ? request.cost(i) : 0,
                    .kept = algorithms::kept_state(limits[i].limit, before[i], limits[i].state)});
  }
  return made;
}

Try try_to_take(Call& call, Limiter& limiter, const LimiterRequest& request, int64_t deadline_ns) {
  Try tried{.outcome = TryEnd::kDenied, .answer = peek(call, limiter, request)};
  if (tried.answer.ban) {
    tried.final = true;
    return tried;
  }
  if (!tried.answer.allowed) {
    record_denied(call,
                  limiter);  // so that the new rate counts from now on, and a low bucket fills
    tried.due_ns = std::min(after(call.now_ns, tried.answer.verdict.retry_after_ns),
                            gone_from_ns(call, limiter.key()));
    tried.final = tried.answer.verdict.retry_after_ns == kNever ||
                  funnel_denies(limiter, request, call.now_ns);
    return tried;
  }
  const int64_t departs_ns = departure_after(limiter, request, call.now_ns);
  if (departs_ns > 0 && after(call.now_ns, departs_ns) > deadline_ns) {
    tried.answer.allowed = tried.answer.verdict.allowed = false;
    tried.answer.verdict.remaining = 0;
    tried.answer.verdict.retry_after_ns = departs_ns;
    tried.final = true;
    return tried;
  }
  const std::vector<algorithms::State> before = states_of(limiter.named());
  const Decision decision = decide(call, limiter, request);
  record(call, limiter, decision);
  tried.answer = decision.answer;
  if (departs_ns == 0) {
    if (!tried.answer.charged) forget_token(call, limiter.key(), request.id);
    answer_request(call, {limiter.key(), request, tried.answer});
    tried.outcome = TryEnd::kReplied;
    return tried;
  }
  const auto made = charges_since(limiter.named(), before, request);
  const auto held_as =
      tried.answer.granted.hold ? tried.answer.granted.hold : tried.answer.granted.lease;
  const auto booking = book_departure(call, limiter, made, held_as, request.id, departs_ns);
  if (!booking) {
    call.reply.error(booking.error());
    return {};
  }
  tried.outcome = TryEnd::kDeparts;
  tried.departure = wait_for_departure(call, limiter.key(), request, tried.answer, *booking,
                                       call.now_ns + departs_ns);
  return tried;
}

// Nothing was taken, so with FULL the limits show what they are.
void reply_denial(Call& call, Limiter& limiter, const LimiterRequest& request, Answer answer) {
  answer.granted.cost = 0;
  if (request.full) add_rows(call, limiter, &answer);
  reply_answer(call, {limiter.key(), request, answer});
}

class AcquireWaiter : public QueuedRequest {
 public:
  using QueuedRequest::QueuedRequest;

  bool try_again(Call& call) override {
    is_served = false;
    if (call.now_ns < expected_ns) forget_simulation(call, key());  // a command has touched the key
    if (expected_ns > 0) simulation->late_ns += std::max<int64_t>(call.now_ns - expected_ns, 0);
    if (recalled(call, key(), request().id)) return true;
    auto limiter = resolve(call, key(), request());
    if (!limiter) return true;
    const bool is_foreseen = simulation->foresees_serving();
    Try tried = try_to_take(call, *limiter, request(), deadline_ns);
    if (tried.outcome == TryEnd::kDenied && !tried.final) {
      expected_ns = due_ns = tried.due_ns;
      return false;
    }
    if (tried.outcome == TryEnd::kDenied) {
      forget_token(call, key(), request().id);
      count_denial(call, *limiter, tried.answer);
      reply_denial(call, *limiter, request(), tried.answer);
    }
    is_served = tried.answer.allowed;
    if (is_served && is_foreseen) simulation->watch = std::make_unique<KeyWatch>(call, key());
    successor = std::move(tried.departure);
    return true;
  }

  void time_out(Call& call) override {
    if (unblocked == Unblocked::kSuperseded) return call.reply.error(kSuperseded);
    forget_token(call, key(), request().id);
    auto limiter = resolve(call, key(), request());
    if (!limiter) return;
    Answer answer = peek(call, *limiter, request());
    answer.allowed = answer.verdict.allowed = false;
    answer.verdict.retry_after_ns = std::max<int64_t>(answer.verdict.retry_after_ns, 1);
    count_denial(call, *limiter, answer);
    reply_denial(call, *limiter, request(), answer);
  }

  // Whoever has asked again meanwhile has the place, or was granted already.
  void abandon(Call& call) override {
    const std::string& id = request().id;
    if (id.empty() || unblocked == Unblocked::kSuperseded) return;
    const auto ticket = find_ticket(call, key(), id);
    if (!ticket || ticket->booking != 0 || ticket->rank != rank) return;
    if (find_in_queue(call, key(), id) != nullptr) return;
    keep_ticket(call, key(), id, {.rank = rank}, call.now_ms() + kRememberedMs);
  }

  int64_t expected_ns = 0;  // when it will be served if nothing else happens; 0: not known
};

// `rank`: 0: after all who are there.
void begin_waiting(Call& call, std::unique_ptr<QueuedRequest> waiter, int64_t deadline_ns,
                   int64_t rank) {
  waiter->deadline_ns = deadline_ns;
  waiter->rank = rank != 0 ? rank : call.limiters.ids.unique_ns(call.now_ns);
  if (!waiter->request().id.empty()) {
    const int64_t wait_ms = std::min((deadline_ns - call.now_ns) / kNsPerMs, kTicketMs);
    keep_ticket(call, waiter->key(), waiter->request().id, {.rank = waiter->rank},
                call.now_ms() + wait_ms + kRememberedMs);
  }
  if (waiter->simulation == nullptr) join_unforeseen(call, waiter.get());
  waiter->keys = {{call.database, waiter->shared_key()}};
  call.host.wait(call, std::move(waiter));
}

// Where a session may not wait, not even for a turn that has come and is not served yet.
bool may_wait_until(const Call& call, int64_t due_ns, int64_t deadline_ns) {
  return due_ns <= deadline_ns && call.session.wait_state().permitted();
}

void deny(Call& call, Limiter& limiter, const LimiterRequest& request, const Answer& answer) {
  count_denial(call, limiter, answer);
  if (call.session.wait_state().permitted()) forget_token(call, limiter.key(), request.id);
  reply_denial(call, limiter, request, answer);
}

// Joins the queue after all who are there, unless that is too late or there is no room.
void join_queue(Call& call, Limiter& limiter, const LimiterRequest& request, int64_t deadline_ns) {
  const auto place = place_after_queue(call, limiter, request);
  if (place.at_ns == kNever || !may_wait_until(call, place.at_ns, deadline_ns) ||
      !has_room_in_queue(call, limiter)) {
    return deny(call, limiter, request, denial_at(place, call.now_ns));
  }
  auto waiter = std::make_unique<AcquireWaiter>(limiter.key(), request);
  join_simulation(call, limiter, waiter.get());
  begin_waiting(call, std::move(waiter), deadline_ns, 0);
}

// Takes the place that the request had before. How long that will take is not known.
void rejoin_queue(Call& call, std::string_view key, const LimiterRequest& request,
                  int64_t deadline_ns, int64_t rank) {
  begin_waiting(call, std::make_unique<AcquireWaiter>(key, request), deadline_ns, rank);
}

// Inside a transaction or a script a session does not wait.
int64_t deadline_of(const Call& call, const LimiterRequest& request) {
  if (!call.session.wait_state().permitted()) return call.now_ns;
  if (*request.timeout_ns == 0) return kNever;
  return after(call.now_ns, *request.timeout_ns);
}

// A request that a funnel has let in is asked again.
void acquire_again(Call& call, std::string_view key, const LimiterRequest& request,
                   const Ticket& ticket) {
  if (call.session.wait_state().permitted()) {
    return call.host.wait(call, wait_again(call, key, request, ticket));
  }
  auto limiter = resolve(call, key, request);
  if (!limiter) return;
  Answer answer = peek(call, *limiter, request);
  answer.allowed = answer.verdict.allowed = false;
  answer.verdict.retry_after_ns = ticket.departs_ns - call.now_ns;
  reply_answer(call, {key, request, answer});
}

// From now on this session waits under the ID, whoever did before. Answers the place in the queue.
int64_t take_place(Call& call, std::string_view key, const LimiterRequest& request,
                   const Ticket& ticket) {
  forget_simulation(call, key);
  QueuedRequest* other = find_in_queue(call, key, request.id);
  if (other != nullptr) call.limiters.waiting.supersede(other);
  return ticket.rank;
}

}  // namespace

void acquire(Call& call, std::string_view key, const LimiterRequest& request) {
  if (recalled(call, key, request.id)) return;
  const auto ticket = find_ticket(call, key, request.id);
  if (ticket && ticket->booking != 0) return acquire_again(call, key, request, *ticket);
  auto limiter = resolve(call, key, request);
  if (!limiter) return;
  const int64_t deadline_ns = deadline_of(call, request);
  int64_t rank = 0;
  if (ticket && call.session.wait_state().permitted()) {
    rank = take_place(call, key, request, *ticket);
  }
  const bool at_once = never_waits(*limiter, request);
  if (rank != 0 && !at_once && !is_next(call, key, rank)) {
    return rejoin_queue(call, key, request, deadline_ns, rank);
  }
  if (rank == 0 && !at_once && must_queue(call, key, request)) {
    return join_queue(call, *limiter, request, deadline_ns);
  }
  Try tried = try_to_take(call, *limiter, request, deadline_ns);
  if (tried.outcome == TryEnd::kReplied) return;
  if (tried.outcome == TryEnd::kDeparts) return call.host.wait(call, std::move(tried.departure));
  if (tried.final || !may_wait_until(call, tried.due_ns, deadline_ns)) {
    return deny(call, *limiter, request, tried.answer);
  }
  auto waiter = std::make_unique<AcquireWaiter>(key, request);
  waiter->expected_ns = waiter->due_ns = tried.due_ns;
  begin_waiting(call, std::move(waiter), deadline_ns, rank);
}

}  // namespace weir::server
