#include "server/limiter/later/departure.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/heap_bytes.h"
#include "server/limiter/later/bookings.h"
#include "server/limiter/take/decide.h"
#include "server/limiter/take/full_answer.h"
#include "server/limiter/take/holds.h"
#include "server/limiter/take/limiters.h"
#include "server/limiter/take/look.h"
#include "server/limiter/take/record.h"

namespace weir::server {
namespace {

// What is left where the key has ended, since all its limits are full.
void show_untouched(Answer* answer) {
  const auto fill = [](algorithms::Verdict* verdict) {
    verdict->remaining = verdict->limit;
    verdict->reset_after_ns = 0;
  };
  fill(&answer->verdict);
  for (LimitRow& row : answer->rows) {
    fill(&row.verdict);
    row.more_after_ns = 0;
  }
}

std::string reply_of(Call& call, const AnsweredKey& answered) {
  std::string bytes;
  resp::ReplyWriter writer(&bytes, 3);
  write_answer(call, writer, answered);
  return bytes;
}

}  // namespace

class Departure final : public Waiter {
 public:
  Departure(const DepartureName& name, LimiterRequest request, Answer answer, Ticket ticket)
      : key_(name.key),
        name_{.database = name.database, .key = key_, .booking = name.booking},
        request_(std::move(request)),
        answer_(std::move(answer)),
        ticket_(std::move(ticket)) {
    due_ns = ticket_.departs_ns;
  }
  Departure(const Departure&) = delete;  // its name points into it

  Departure* departure() override { return this; }
  const DepartureName* departs() const override { return &name_; }

  size_t own_bytes() const override {
    size_t bytes = block_bytes(sizeof(*this)) + heap_bytes(key_) + request_.heap_bytes() +
                   heap_bytes(ticket_.reply) + heap_bytes(answer_.rows);
    for (const LimitRow& row : answer_.rows) bytes += heap_bytes(row.name);
    return bytes;
  }

  bool try_again(Call& call) override {
    if (cancelled_) {
      deny(call);
      return true;
    }
    if (call.now_ns < ticket_.departs_ns) {
      due_ns = ticket_.departs_ns;
      return false;
    }
    if (asked_again_) {
      reply_again(call, ticket_.reply);
      return true;
    }
    call.limiters.takings.make_strict();  // what it tells of was taken before
    // Another client may have put something else at the key meanwhile.
    auto limiter = Limiter::find(call, key());
    if (limiter && !limiter->exists()) {
      show_untouched(&answer_);
    } else if (limiter && !limiter->named().empty()) {
      const Answer now = look(call, *limiter, limiter->named());
      answer_.verdict = now.verdict;
      answer_.index = now.index;
      if (request_.full) add_rows(call, *limiter, &answer_);
    }
    answer_request(call, {key(), request_, answer_});
    return true;
  }
  void time_out(Call& call) override {
    if (unblocked == Unblocked::kSuperseded) return call.reply.error(kSuperseded);
    try_again(call);
  }
  void abandon(Call& call) override {
    if (!request_.id.empty()) return;
    if (auto limiter = Limiter::find(call, key())) give_back(call, *limiter);
  }
  bool may_be_unblocked() const override { return false; }
  void set_cancelled() { cancelled_ = true; }
  void set_asked_again() { asked_again_ = true; }

 private:
  void give_back(Call& call, Limiter& limiter) const {
    if (!limiter.exists()) return;
    cancel_all(call, limiter, ticket_.booking);
    if (ticket_.lease == 0 || ticket_.lease == ticket_.booking) return;
    // Of a ticket from before they had one id.
    if (end_lease(call, limiter, ticket_.lease)) limiter.save();
  }

  void deny(Call& call) {
    Answer denied{.verdict = answer_.verdict,
                  .index = answer_.index,
                  .algorithm = answer_.algorithm,
                  .rows = answer_.rows};
    if (auto limiter = Limiter::find(call, key())) {
      give_back(call, *limiter);
      if (!limiter->named().empty()) {
        const Answer now = look(call, *limiter, limiter->named());
        denied.verdict = now.verdict;
        denied.index = now.index;
        denied.algorithm = now.algorithm;
        if (request_.full) add_rows(call, *limiter, &denied);
      }
      count_denial(call, *limiter, denied);
    }
    denied.allowed = denied.verdict.allowed = false;
    denied.verdict.retry_after_ns = std::max<int64_t>(denied.verdict.retry_after_ns, 1);
    reply_answer(call, {key(), request_, denied});
  }

  const std::string& key() const { return key_; }

  const std::string key_;
  const DepartureName name_;
  LimiterRequest request_;
  Answer answer_;
  Ticket ticket_;
  bool asked_again_ = false;  // its answer is the ticket's
  bool cancelled_ = false;
};

std::optional<int64_t> cancel_all(Call& call, Limiter& limiter, int64_t id) {
  const auto given_back = cancel(call, limiter, id);
  if (!given_back) return std::nullopt;
  const bool was_held = drop_hold(limiter, id);
  const bool was_leased = end_lease(call, limiter, id);
  if (was_held || was_leased) limiter.save();
  return given_back;
}

std::unique_ptr<Waiter> wait_for_departure(Call& call, std::string_view key,
                                           const LimiterRequest& request, const Answer& answer,
                                           int64_t booking, int64_t departs_ns) {
  Ticket ticket{
      .booking = booking, .departs_ns = departs_ns, .lease = answer.granted.lease.value_or(0)};
  if (!request.id.empty()) {
    ticket.reply = reply_of(call, {key, request, answer});
    const int64_t wait_ms = std::min((departs_ns - call.now_ns) / kNsPerMs, kTicketMs);
    const int64_t until_ms = call.now_ms() + wait_ms + kRememberedMs;
    keep_ticket(call, key, request.id, ticket, until_ms);
    remember_id(call, key, booking, {key, request.id}, until_ms);
  }
  const DepartureName name{.database = call.database, .key = key, .booking = booking};
  return std::make_unique<Departure>(name, request, answer, std::move(ticket));
}

std::unique_ptr<Waiter> wait_again(Call& call, std::string_view key, const LimiterRequest& request,
                                   const Ticket& ticket) {
  Waiting& waiting = call.limiters.waiting;
  const DepartureName name{.database = call.database, .key = key, .booking = ticket.booking};
  if (Departure* other = waiting.departure(name)) waiting.supersede(other);
  auto waiter = std::make_unique<Departure>(name, request, Answer{}, ticket);
  waiter->set_asked_again();
  return waiter;
}

void deny_departure(Call& call, std::string_view key, int64_t booking) {
  Waiting& waiting = call.limiters.waiting;
  const DepartureName name{.database = call.database, .key = key, .booking = booking};
  if (Departure* departure = waiting.departure(name)) departure->set_cancelled();
  waiting.signal_departure(name);
}

}  // namespace weir::server
