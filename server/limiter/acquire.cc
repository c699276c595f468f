#include "server/limiter/acquire.h"

#include <algorithm>
#include <memory>

#include "algorithms/concurrency.h"
#include "server/limiter/bookings.h"
#include "server/limiter/limiters.h"
#include "server/limiter/queue_tail.h"
#include "server/limiter/remembered.h"
#include "server/session/session.h"

namespace weir::server {
namespace {

using algorithms::kNever;

bool is_queue(const algorithms::Limit& limit) { return limit.algorithm->queues; }

// Answers the instant `duration_ns` from now; kNever stays never.
int64_t after(int64_t now_ns, int64_t duration_ns) {
  return duration_ns > kNever - now_ns ? kNever : now_ns + duration_ns;
}

void reply_granted(Call& call, std::string_view key, const LimiterRequest& request,
                   const Answer& answer) {
  const size_t begin = call.reply.buffer()->size();
  reply_answer(call, answer, false);
  if (answer.charged && !request.id.empty()) remember(call, key, request.id, begin);
}

// A request whose permits are taken: only its reply waits, until it leaves the funnel.
class Departure : public Waiter {
 public:
  Departure(std::string key, LimiterRequest request, Answer answer, int64_t booking)
      : key_(std::move(key)), request_(std::move(request)), answer_(answer), booking_(booking) {}

  bool try_again(Call& call) override {
    // Another client may have put something else at the key meanwhile.
    if (auto limiter = Limiter::read(call, key_); limiter && !limiter->named().empty()) {
      const Answer now = look(call, *limiter, limiter->named());
      answer_.verdict = now.verdict;
      answer_.index = now.index;
    }
    reply_granted(call, key_, request_, answer_);
    return true;
  }
  void time_out(Call& call) override { try_again(call); }
  void abandon(Call& call) override {
    auto limiter = Limiter::read(call, key_);
    if (!limiter || !limiter->exists()) return;
    if (answer_.lease_id && release(call, *limiter)) limiter->save();
    cancel(call, *limiter, booking_);
  }
  bool may_be_unblocked() const override { return false; }

 private:
  bool release(Call& call, Limiter& limiter) const {
    bool released = false;
    for (HeldLimit& held : limiter.all()) {
      if (!held.limit.algorithm->makes_leases) continue;
      released |= algorithms::release_lease(held.state, *limiter.entries_of(held),
                                            {.id = *answer_.lease_id, .now_ns = call.now_ns}) > 0;
    }
    return released;
  }

  std::string key_;
  LimiterRequest request_;
  Answer answer_;
  int64_t booking_;
};

enum class Outcome { kReplied, kDenied, kDeparts };

// One try to take. With kDenied `answer` has the wait; nothing was taken or replied.
struct Try {
  Outcome outcome = Outcome::kReplied;
  Answer answer;
  bool final = false;                   // waiting would not help
  int64_t due_ns = algorithms::kNever;  // when to try again if no command touches the key
  std::unique_ptr<Departure> departure = nullptr;
};

// Answers how long until a request that is let in now has left every funnel among its limits.
int64_t departure_after(Limiter& limiter, const LimiterRequest& request, int64_t now_ns) {
  int64_t wait_ns = 0;
  const auto limits = limiter.named();
  for (size_t i = 0; i < limits.size(); ++i) {
    if (!is_queue(limits[i].limit)) continue;
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
    if (is_queue(limits[i].limit) &&
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
  if (last_ms == 0 || last_ms >= kNever / algorithms::kNsPerMs) return kNever;
  return (last_ms + 1) * algorithms::kNsPerMs;
}

Try try_to_take(Call& call, Limiter& limiter, const LimiterRequest& request, int64_t deadline_ns) {
  Try tried{.outcome = Outcome::kDenied, .answer = take(call, limiter, request, true)};
  if (!tried.answer.allowed) {
    save_denied(call, limiter);  // so that the new rate counts from now on, and a low bucket fills
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
  tried.answer = take(call, limiter, request, false);
  if (departs_ns == 0) {
    reply_granted(call, limiter.key(), request, tried.answer);
    tried.outcome = Outcome::kReplied;
    return tried;
  }
  const auto booking = book_departure(call, limiter, request, departs_ns);
  if (!booking) return {};  // an error has been replied
  tried.outcome = Outcome::kDeparts;
  tried.departure =
      std::make_unique<Departure>(std::string(limiter.key()), request, tried.answer, *booking);
  tried.departure->due_ns = call.now_ns + departs_ns;
  return tried;
}

class AcquireWaiter : public Waiter {
 public:
  AcquireWaiter(std::string key, LimiterRequest request, int64_t expected_ns)
      : key_(std::move(key)), request_(std::move(request)), expected_ns_(expected_ns) {}

  bool strict() const override { return true; }

  bool try_again(Call& call) override {
    if (call.now_ns < expected_ns_) forget_tail(call);  // a command has touched the key
    if (!request_.id.empty() && recall(call, key_, request_.id) == Recall::kAnswered) {
      forget_tail(call);
      return true;
    }
    auto limiter = read(call);
    if (!limiter) return true;
    Try tried = try_to_take(call, *limiter, request_, deadline_ns);
    if (tried.outcome == Outcome::kDenied && !tried.final) {
      expected_ns_ = due_ns = tried.due_ns;
      return false;
    }
    if (tried.outcome == Outcome::kDenied) reply_answer(call, tried.answer, false);
    successor = std::move(tried.departure);
    return true;
  }

  void time_out(Call& call) override {
    forget_tail(call);
    auto limiter = read(call);
    if (!limiter) return;
    Answer answer = take(call, *limiter, request_, true);
    answer.allowed = answer.verdict.allowed = false;
    answer.verdict.retry_after_ns = std::max<int64_t>(answer.verdict.retry_after_ns, 1);
    count_denial(call, *limiter);
    reply_answer(call, answer, false);
  }

  void abandon(Call& call) override { forget_tail(call); }

  // The limiter once this waiter is served; the last in the queue may have it.
  std::unique_ptr<QueueTail> tail;

 private:
  std::optional<Limiter> read(Call& call) const {
    auto limiter = Limiter::read(call, key_);
    if (!limiter) return std::nullopt;
    const auto named = resolve_limits(call, request_);
    if (!named) return std::nullopt;
    return limiter->name(*named) ? std::move(limiter) : std::nullopt;
  }

  void forget_tail(Call& call) const {
    for (Waiter* waiter : call.limiters.waiting.queue(database, key_)) {
      if (auto* other = dynamic_cast<AcquireWaiter*>(waiter)) other->tail.reset();
    }
  }

  friend std::unique_ptr<QueueTail> tail_of(Call& call, Limiter& limiter);

  std::string key_;
  LimiterRequest request_;
  int64_t expected_ns_;  // when it will be served if nothing else happens; 0: not known
};

AcquireWaiter* last_in_queue(Call& call, std::string_view key) {
  const auto& queue = call.limiters.waiting.queue(call.database, key);
  for (auto waiter = queue.rbegin(); waiter != queue.rend(); ++waiter) {
    if (auto* acquires = dynamic_cast<AcquireWaiter*>(*waiter)) return acquires;
  }
  return nullptr;
}

// Answers the simulated end of the key's queue: the copy that its last waiter keeps, or a new one.
std::unique_ptr<QueueTail> tail_of(Call& call, Limiter& limiter) {
  if (AcquireWaiter* last = last_in_queue(call, limiter.key()); last->tail != nullptr) {
    return std::make_unique<QueueTail>(*last->tail);
  }
  auto tail = std::make_unique<QueueTail>(limiter, call.now_ns);
  for (Waiter* waiter : call.limiters.waiting.queue(call.database, limiter.key())) {
    const auto* acquires = dynamic_cast<AcquireWaiter*>(waiter);
    if (acquires == nullptr) continue;
    const auto* limits = limits_of(call, acquires->request_);
    if (limits == nullptr || !check_request(acquires->request_, *limits).empty()) continue;
    tail->join(*limits, acquires->request_, call.now_ns);
  }
  return tail;
}

Answer denial_at(const QueueTail::Place& place, int64_t now_ns) {
  Answer answer{.verdict = place.verdict, .index = static_cast<int64_t>(place.index)};
  answer.verdict.allowed = false;
  answer.verdict.remaining = 0;
  answer.verdict.retry_after_ns =
      place.at_ns == kNever ? kNever : std::max<int64_t>(place.at_ns - now_ns, 1);
  answer.verdict.reset_after_ns = place.full_at_ns == kNever ? kNever : place.full_at_ns - now_ns;
  return answer;
}

void begin_waiting(Call& call, std::unique_ptr<Waiter> waiter, std::string_view key) {
  waiter->keys = {{call.database, std::string(key)}};
  call.host.wait(call, std::move(waiter));
}

// Joins the queue after all who are there, unless that is too late.
void join_queue(Call& call, Limiter& limiter, LimiterRequest request, int64_t deadline_ns) {
  auto tail = tail_of(call, limiter);
  const auto place = tail->join(*limits_of(call, request), request, call.now_ns);
  if (place.at_ns == kNever || place.at_ns > deadline_ns) {
    count_denial(call, limiter);
    return reply_answer(call, denial_at(place, call.now_ns), false);
  }
  last_in_queue(call, limiter.key())->tail.reset();
  auto waiter = std::make_unique<AcquireWaiter>(std::string(limiter.key()), std::move(request), 0);
  waiter->tail = std::move(tail);
  waiter->deadline_ns = deadline_ns;
  begin_waiting(call, std::move(waiter), limiter.key());
}

}  // namespace

bool has_queue(Call& call, std::string_view key) { return last_in_queue(call, key) != nullptr; }

Answer behind_queue(Call& call, Limiter& limiter, const LimiterRequest& request) {
  std::vector<algorithms::Limit> limits;
  for (const HeldLimit& held : limiter.named()) limits.push_back(held.limit);
  LimiterRequest asked;
  asked.costs = request.costs;
  if (request.upto) asked.costs[0] = std::min<int64_t>(asked.costs[0], 1);
  return denial_at(tail_of(call, limiter)->join(limits, asked, call.now_ns), call.now_ns);
}

void acquire(Call& call, std::string_view key, LimiterRequest request) {
  if (!request.id.empty() && recall(call, key, request.id) == Recall::kAnswered) return;
  auto limiter = Limiter::read(call, key);
  if (!limiter) return;
  const auto named = resolve_limits(call, request);
  if (!named) return;
  if (!limiter->name(*named)) return;
  int64_t deadline_ns = call.now_ns;
  if (call.session.may_wait) {
    deadline_ns = *request.timeout_ms == 0
                      ? kNever
                      : after(call.now_ns, *request.timeout_ms * algorithms::kNsPerMs);
  }
  if (request.asks() && has_queue(call, key)) {
    return join_queue(call, *limiter, std::move(request), deadline_ns);
  }
  Try tried = try_to_take(call, *limiter, request, deadline_ns);
  if (tried.outcome == Outcome::kReplied) return;
  if (tried.outcome == Outcome::kDeparts) return call.host.wait(call, std::move(tried.departure));
  if (tried.final || tried.due_ns > deadline_ns) {
    count_denial(call, *limiter);
    return reply_answer(call, tried.answer, false);
  }
  auto waiter = std::make_unique<AcquireWaiter>(std::string(key), std::move(request), tried.due_ns);
  waiter->deadline_ns = deadline_ns;
  waiter->due_ns = tried.due_ns;
  begin_waiting(call, std::move(waiter), key);
}

}  // namespace weir::server
