// A user with few rights walks at random through all that its role may ask of keys with one policy
// each: takes, holds, bookings, waits, departures, all that gives permits back, and kills. Whatever
// it does, what it used after all, each permit counted when it was charged, is what new limits of
// the policy would have granted.
//
// A policy's limits are asked of one key: not spread over several by RL.MTAKE without EACH, and not
// under another policy at the same key.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "algorithms/limit_text.h"
#include "tests/algorithms/map_entries.h"
#include "tests/algorithms/rng.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

using algorithms::testing::Rng;

constexpr int64_t kRoundedNs = 64;  // what BURSTY's instants may be rounded by
constexpr int kStepsOfLife = 60;

// The policies, and which of them can be booked.
struct Kind {
  std::string_view limits;
  bool books;
  int64_t cost_max;
};
constexpr Kind kKinds[] = {
    {"GCRA 10/1s GCRA 100/1h", true, 10},
    {"LEAKY 50/1s CAPACITY 400 FIXED 100/5s ALIGN EPOCH", false, 60},
    {"LEAKY 5/1s CAPACITY 15", true, 15},
    {"TOKENBUCKET 20/1s CAPACITY 50 GCRA 7/1s BURST 30", true, 30},
    {"FIXED 30/10s ALIGN EPOCH SLIDINGLOG 20/7s", false, 20},
    {"SLIDINGCOUNTER 30/10s SLIDINGWINDOW 25/6s BUCKETS 6 PERBUCKET 9", false, 9},
    {"BURSTY 5/1s MAXBURST 3s", true, 12},
    {"GCRA 3/1s", true, 3},
};

int64_t steps_wanted() {
  const char* const wanted = std::getenv("WEIR_WALK_STEPS");
  return wanted == nullptr ? 20'000 : std::atoll(wanted);
}

std::vector<int64_t> numbers_of(std::string_view reply) {
  std::vector<int64_t> numbers;
  for (size_t at = 0; at < reply.size();) {
    const size_t digit = reply.find_first_of("-0123456789", at);
    if (digit == reply.npos || reply[0] != '[') break;
    size_t used = 0;
    numbers.push_back(std::stoll(std::string(reply.substr(digit, 20)), &used));
    at = digit + used;
  }
  return numbers;
}

// What was granted, until it is known to have been given back.
struct Grant {
  int64_t at_ns = 0;
  std::vector<int64_t> permits;  // of each limit
  bool booked = false;           // taken into debt
};

// An id that was answered, or could be known.
struct Ticket {
  int64_t id = 0;
  size_t grant = 0;
  int64_t ends_ns = 0;  // the hold ends, or the booking is due, not earlier
};

// One who waits in RL.ACQUIRE.
struct Waiter {
  std::unique_ptr<FakeClient> client;
  std::vector<int64_t> costs;
  std::optional<size_t> grant = std::nullopt;  // it was let in, and its reply waits
};

class RlWalk : public LimiterTest {
 protected:
  void SetUp() override { begin(); }

  void begin() {
    ask("ACL SETUSER app on >x +@ratelimit +ping +select ~app:* policy~app-* noinline");
    user_ = connect_user();
  }

  std::unique_ptr<FakeClient> connect_user() {
    auto client = server_->connect();
    EXPECT_EQ(server::ask(*client, "AUTH app x"), "OK");
    return client;
  }

  void live(Rng& rng) {
    rng_ = &rng;
    kind_ = static_cast<size_t>(rng.between(0, std::ssize(kKinds) - 1));
    name_ = "app-" + std::to_string(kind_);
    key_ = "app:" + std::to_string(++lives_);
    books_ = kind().books && rng.one_in(2);
    limits_ = algorithms::parse_limits(split_at_spaces(kind().limits)).value().limits;
    ask("RL.POLICY SET " + name_ + " " + std::string(kind().limits));
    begin_ns_ = now_ns();
    for (int i = 0; i < kStepsOfLife && !HasFailure(); ++i) step();
    for (Waiter& waiter : waiters_) waiter.client->leave();
    server_->run_turns();
    expect_formula();
    grants_.clear();
    holds_.clear();
    bookings_.clear();
    waiters_.clear();
  }

 private:
  const Kind& kind() const { return kKinds[kind_]; }
  int64_t now_ns() { return server_->clock.wall_ns(); }
  std::string as_user(std::string_view line) { return server::ask(*user_, line); }

  std::vector<int64_t> any_costs() {
    const int64_t most[] = {1, 1, 2, kind().cost_max};
    const int64_t cost = rng_->between(1, rng_->pick(most));
    std::vector<int64_t> costs(limits_.size(), cost);
    if (rng_->one_in(3)) {
      for (int64_t& each : costs) each = rng_->between(0, kind().cost_max);
    }
    return costs;
  }

  std::string request(std::string_view command, const std::vector<int64_t>& costs) {
    std::string line = std::string(command) + " " + key_ + " POLICY " + name_ + " COST ";
    for (size_t i = 0; i < costs.size(); ++i) {
      line += (i == 0 ? "" : ",") + std::to_string(costs[i]);
    }
    return line;
  }

  void step() {
    switch (rng_->between(0, 15)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return pass(any_time_ns());
      case 4:
      case 5:
        return take();
      case 6:
      case 7:
        return take_held();
      case 8:
      case 9:
        return books_ ? book() : take_held();
      case 10:
      case 11:
        return books_ ? take() : acquire();
      case 12:
        return settle();
      case 13:
        return cancel();
      case 14:
        return leave();
      default:
        return look_or_kill();
    }
  }

  int64_t any_time_ns() {
    const int64_t most_ns[] = {1, kMs, 100 * kMs, kSecond, 6 * kSecond, 60 * kSecond};
    return rng_->between(0, rng_->pick(most_ns));
  }

  // Stops wherever somebody may be served, so that the instant of each charge is known.
  void pass(int64_t ns) {
    for (int turns = 0; ns >= 0 && turns < 1'000; ++turns) {
      const int64_t next_ns = (*server_)->next_wait_ns();
      const int64_t part_ns = next_ns == kNotDue ? ns : std::clamp<int64_t>(next_ns, 0, ns);
      server_->clock.advance(part_ns);
      server_->run_turns();
      look_at_waiters();
      ns -= part_ns;
      if (ns == 0 && next_ns != 0) return;
    }
  }

  size_t granted(const std::vector<int64_t>& costs, bool booked = false) {
    grants_.push_back({.at_ns = now_ns(), .permits = costs, .booked = booked});
    return grants_.size() - 1;
  }

  void take() {
    const auto costs = any_costs();
    const auto reply = numbers_of(as_user(request("RL.TAKE", costs)));
    if (!reply.empty() && reply[0] == 1) granted(costs);
  }

  void take_held() {
    const auto costs = any_costs();
    const auto reply = numbers_of(as_user(request("RL.TAKE", costs) + " HOLD 20s"));
    if (reply.empty() || reply[0] != 1) return;
    const size_t grant = granted(costs);
    if (reply.size() == 7) holds_.push_back({reply[6], grant, now_ns() + 20 * kSecond});
  }

  void book() {
    const auto costs = any_costs();
    const auto reply = numbers_of(as_user(request("RL.RESERVE", costs) + " MAXWAIT 30s"));
    if (reply.size() != 3 || reply[0] != 1) return;
    const size_t grant = granted(costs, true);
    // The wait is rounded up: until a millisecond before its end the booking is not due for sure.
    if (reply[1] > 1) bookings_.push_back({reply[2], grant, now_ns() + (reply[1] - 1) * kMs});
  }

  void acquire() {
    if (waiters_.size() >= 5) return;
    Waiter waiter{.client = connect_user(), .costs = any_costs()};
    send(*waiter.client, request("RL.ACQUIRE", waiter.costs) + " TIMEOUT " +
                             std::to_string(rng_->between(0, 3) * 1'000));
    server_->run_turns();
    waiters_.push_back(std::move(waiter));
    look_at_waiters();
  }

  // Who was let in, in the order of the queue, and who was answered. Each who was let in and is not
  // answered has a booking, and nobody else has one in such a life.
  void look_at_waiters() {
    int64_t let_in = books_ ? 0 : bookings_not_due();
    for (Waiter& waiter : waiters_) {
      const auto reply = numbers_of(heard(*waiter.client));
      if (!reply.empty()) {
        if (reply[0] == 1 && !waiter.grant) granted(waiter.costs);
        waiter.client->leave();
        waiter.client.reset();
      } else if (let_in > 0) {
        if (!waiter.grant) waiter.grant = granted(waiter.costs);
        --let_in;
      }
    }
    std::erase_if(waiters_, [](const Waiter& waiter) { return waiter.client == nullptr; });
  }

  int64_t bookings_not_due() {
    const std::string info = ask("RL.INFO " + key_);
    const size_t at = info.find("\"bookings\", ");
    return at == info.npos ? 0 : std::stoll(info.substr(at + 12));
  }

  // After a kill ids are drawn from the first on: one that has ended may be another's by now.
  void forget_ended(std::vector<Ticket>* tickets) {
    std::erase_if(*tickets, [now = now_ns()](const Ticket& each) { return each.ends_ns <= now; });
  }

  void settle() {
    forget_ended(&holds_);
    if (holds_.empty()) return;
    const auto which = static_cast<size_t>(rng_->between(0, std::ssize(holds_) - 1));
    const Ticket hold = holds_[which];
    Grant& grant = grants_[hold.grant];
    std::vector<int64_t> used = grant.permits;
    std::string words;
    for (size_t i = 0; i < used.size(); ++i) {
      used[i] = rng_->one_in(2) ? 0 : rng_->between(0, used[i]);
      words += (i == 0 ? "" : ",") + std::to_string(used[i]);
    }
    const std::string reply =
        as_user("RL.SETTLE " + key_ + " " + std::to_string(hold.id) + " " + words);
    holds_.erase(holds_.begin() + static_cast<std::ptrdiff_t>(which));
    if (reply != "(nil)") grant.permits = used;
    look_at_waiters();
  }

  void cancel() {
    auto& tickets = rng_->one_in(2) ? holds_ : bookings_;
    forget_ended(&tickets);
    if (tickets.empty()) return;
    const auto which = static_cast<size_t>(rng_->between(0, std::ssize(tickets) - 1));
    const Ticket ticket = tickets[which];
    tickets.erase(tickets.begin() + static_cast<std::ptrdiff_t>(which));
    as_user("RL.CANCEL " + key_ + " " + std::to_string(ticket.id));
    std::ranges::fill(grants_[ticket.grant].permits, 0);
    server_->run_turns();
    look_at_waiters();
  }

  void leave() {
    if (waiters_.empty()) return;
    const auto which = static_cast<size_t>(rng_->between(0, std::ssize(waiters_) - 1));
    Waiter& waiter = waiters_[which];
    if (waiter.grant) std::ranges::fill(grants_[*waiter.grant].permits, 0);
    waiter.client->leave();
    waiters_.erase(waiters_.begin() + static_cast<std::ptrdiff_t>(which));
    server_->run_turns();
    look_at_waiters();
  }

  void look_or_kill() {
    if (rng_->one_in(2)) {
      as_user("RL.PEEK " + key_ + " POLICY " + name_);
      as_user("RL.INFO " + key_);
      as_user("RL.RELEASE " + key_ + " " + std::to_string(rng_->between(1, 50)));
      as_user("RL.RENEW " + key_ + " " + std::to_string(rng_->between(1, 50)));
      return;
    }
    if (!waiters_.empty() || !rng_->one_in(4)) return;
    user_.reset();
    restart(any_time_ns());
    begin();
  }

  void expect_formula() {
    for (size_t i = 0; i < limits_.size(); ++i) {
      algorithms::testing::MapEntries entries;
      algorithms::State state = algorithms::fresh_state(limits_[i], begin_ns_);
      for (const Grant& grant : grants_) {
        algorithms::Request request{.now_ns = grant.at_ns,
                                    .cost = grant.permits[i],
                                    .force = grant.booked,
                                    .entries = &entries};
        auto verdict = algorithms::decide(limits_[i], state, request);
        if (!verdict.allowed && verdict.retry_after_ns <= kRoundedNs) {
          request.force = true;
          verdict = algorithms::decide(limits_[i], state, request);
        }
        ASSERT_TRUE(verdict.allowed)
            << "limit " << i << " of " << kind().limits << ": grant " << &grant - grants_.data()
            << " of " << grants_.size() << ", " << grant.permits[i] << " permits, "
            << verdict.retry_after_ns << " ns too early";
      }
    }
  }

  Rng* rng_ = nullptr;
  std::unique_ptr<FakeClient> user_;
  size_t kind_ = 0;
  bool books_ = false;  // in this life, or waits
  int64_t lives_ = 0;
  std::string name_;
  std::string key_;
  std::vector<algorithms::Limit> limits_;
  int64_t begin_ns_ = 0;
  std::vector<Grant> grants_;
  std::vector<Ticket> holds_;
  std::vector<Ticket> bookings_;
  std::vector<Waiter> waiters_;
};

TEST_F(RlWalk, NobodyUsesMoreThanTheFormulaOfALimit) {
  algorithms::testing::Seeded seeded;
  for (int64_t steps = 0; steps < steps_wanted() && !HasFailure(); steps += kStepsOfLife) {
    SCOPED_TRACE("after " + std::to_string(steps) + " steps");
    live(seeded.rng);
  }
}

}  // namespace
}  // namespace weir::server
