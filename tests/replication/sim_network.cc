#include "tests/replication/sim_network.h"

#include <algorithm>
#include <utility>

#include "tests/replication/time_units.h"

namespace weir::storage::replication {
namespace {

constexpr int64_t kLogTimeoutNs = kSecond;
constexpr int64_t kLockTimeoutNs = 800 * kMs;
constexpr Appended kUnknown{.outcome = Appended::Outcome::kUnknown, .head = {}};
constexpr Appended kRefused{.outcome = Appended::Outcome::kRefused, .head = {}};

}  // namespace

void SimNetwork::be_quiet() {
  is_quiet_ = true;
  down_until_ns_ = appends_blocked_until_ns_ = standby_down_until_ns_ = slow_until_ns_ = 0;
  make_durable();
}

int64_t SimNetwork::delay_ns() {
  if (agenda_->now_ns() < slow_until_ns_) return random_->between(20, 900) * kMs;
  if (chance(60)) return random_->between(1, 400) * kMs;
  return random_->between(typical_delay_ns_ / 4, typical_delay_ns_ * 2);
}

std::shared_ptr<SimNetwork::Call> SimNetwork::append(Link* link, std::optional<Head> expected,
                                                     std::string record,
                                                     std::function<void(const Appended&)> answer) {
  auto call = std::make_shared<Call>();
  call->link = link;
  call->branch = link->branch;
  call->expected = expected;
  call->record = std::move(record);
  call->answer = std::move(answer);
  call->sent_ns = agenda_->now_ns();
  set_out(call);
  return call;
}

void SimNetwork::set_out(const std::shared_ptr<Call>& call) {
  const int64_t now_ns = agenda_->now_ns();
  if (fate_ == Fate::kArrivesLate) {
    fate_ = Fate::kArrives;
    return agenda_->after(kGiveUpNs + kSecond, [this, call] { arrive(call); });
  }
  const bool is_cut = now_ns < call->link->requests_cut_until_ns || is_down();
  if (!is_cut && fate_ != Fate::kRequestLost) {
    return agenda_->after(delay_ns(), [this, call] { arrive(call); });
  }
  if (fate_ != Fate::kRequestLost && random_->one_in(2)) {
    // It lies in a buffer and is delivered when the connection works again, or whenever.
    return agenda_->after(random_->between(200, 6000) * kMs, [this, call] { arrive(call); });
  }
  counts_->add(Fault::kRequestLost);
  if (std::exchange(fate_, Fate::kArrives) == Fate::kRequestLost) return;
  if (random_->one_in(2)) answer(call, kUnknown, random_->between(1, 500) * kMs);
}

// The request is at the engine.
void SimNetwork::arrive(const std::shared_ptr<Call>& call) {
  const bool is_old = call->branch != engine_->leader();
  if (is_down() || (is_old && !old_leader_answers_)) {
    counts_->add(Fault::kRequestLost);
    return;
  }
  if (agenda_->now_ns() < appends_blocked_until_ns_) {
    counts_->add(Fault::kAppendsBlocked);
    if (!random_->one_in(2)) {
      return agenda_->at(appends_blocked_until_ns_ + delay_ns(), [this, call] { arrive(call); });
    }
    counts_->add(Fault::kRefusedUntried);
    return answer(call, kRefused, kLockTimeoutNs);
  }
  if (chance(300)) {
    counts_->add(Fault::kRefusedUntried);
    return answer(call, kRefused, delay_ns());
  }
  take_effect(call);
}

void SimNetwork::take_effect(const std::shared_ptr<Call>& call) {
  call->result = engine_->append(call->branch, call->expected, call->record);
  call->engine_run = engine_run_;
  if (call->result.outcome != Appended::Outcome::kDone) {
    counts_->add(call->is_open ? Fault::kRefusedByCondition : Fault::kZombieRefused);
    return answer(call, call->result, delay_ns());
  }
  if (!call->is_open) counts_->add(Fault::kZombie);
  if (call->branch != engine_->leader()) counts_->add(Fault::kOldLeader);
  if (std::exchange(fate_, Fate::kArrives) == Fate::kAnswerLost) {
    counts_->add(Fault::kAnswerLost);
    engine_->make_durable(call->branch, call->result.head.log_index);
    return;
  }
  if (call->expected && chance(200)) {
    // A connection sends it again, and the answer to the second attempt comes first.
    counts_->add(Fault::kSentTwice);
    answer(call, kRefused, delay_ns());
  }
  agenda_->after(delay_ns() / 2, [this, call] { acknowledge_durable(call); });
}

// The engine's standby has the record, or does not get it now.
void SimNetwork::acknowledge_durable(const std::shared_ptr<Call>& call) {
  const bool is_old = call->branch != engine_->leader();
  const bool is_heard = call->engine_run == engine_run_ || (is_lossy_ && is_old);
  if (!is_lossy_) {
    if (is_old || is_down()) {
      counts_->add(Fault::kAnswerLost);
      return;
    }
    if (agenda_->now_ns() < standby_down_until_ns_) {
      counts_->add(Fault::kStandbyAway);
      waiting_.push_back(call);
      return;
    }
    engine_->make_durable(call->branch, call->result.head.log_index);
  }
  if (is_heard) return answer(call, call->result, delay_ns());
  counts_->add(Fault::kAnswerLost);
}

// The engine's standby is back, and has everything soon.
void SimNetwork::make_durable() {
  if (agenda_->now_ns() < standby_down_until_ns_ || is_down()) return;
  engine_->make_durable(engine_->leader(), engine_->size(engine_->leader()));
  for (const auto& call : std::exchange(waiting_, {})) acknowledge_durable(call);
}

void SimNetwork::answer(const std::shared_ptr<Call>& call, const Appended& answer,
                        int64_t after_ns) {
  agenda_->after(after_ns, [this, call, answer] {
    const bool gives_up = answer.outcome == Appended::Outcome::kUnknown;
    const bool is_cut = agenda_->now_ns() < call->link->answers_cut_until_ns;
    if (!call->is_open) return;
    if (!gives_up && is_cut) {
      if (answer.outcome == Appended::Outcome::kDone) counts_->add(Fault::kAnswerLost);
      return;
    }
    call->is_open = false;
    if (agenda_->now_ns() - call->sent_ns > kLogTimeoutNs) counts_->add(Fault::kLateAnswer);
    call->answer(answer);
  });
}

void SimNetwork::read(Link* link, const Head& after, size_t bytes_max,
                      std::function<void(const Read&)> answer) {
  const size_t branch = link->branch;
  agenda_->after(delay_ns(), [this, link, branch, after, bytes_max, answer = std::move(answer)] {
    const int64_t now_ns = agenda_->now_ns();
    const bool is_dead = branch != engine_->leader() && !old_leader_answers_;
    if (now_ns < link->requests_cut_until_ns || now_ns < link->answers_cut_until_ns || is_down() ||
        is_dead) {
      counts_->add(Fault::kFailedRead);
      if (random_->one_in(2)) return;  // it hangs
      return agenda_->after(random_->between(1, 300) * kMs, [answer] { answer(Read{}); });
    }
    agenda_->after(delay_ns(),
                   [answer, read = read_now(link, branch, after, bytes_max)] { answer(read); });
  });
}

Read SimNetwork::read_now(Link* link, size_t branch, const Head& after, size_t bytes_max) {
  size_t visible = engine_->size(branch);
  const bool is_stale = chance(100);
  if (is_stale) visible -= std::min<size_t>(visible - 1, random_->below(4));
  const Read read = engine_->read(branch, after, bytes_max, visible);
  if (is_stale && visible < engine_->size(branch)) {
    link->is_misled = link->is_misled || read.outcome == Read::Outcome::kRewound;
    counts_->add(read.outcome == Read::Outcome::kRewound ? Fault::kStaleRewound
                                                         : Fault::kStaleRead);
  }
  if (branch == engine_->leader() && !read.records.empty()) {
    read_log_index_ = std::max<size_t>(read_log_index_, read.records.back().head.log_index);
  }
  return read;
}

// Trimming is a request like another, which nobody waits for.
void SimNetwork::trim(Link* link, uint64_t up_to) {
  const size_t branch = link->branch;
  agenda_->after(delay_ns(), [this, link, branch, up_to] {
    const bool is_old = branch != engine_->leader();
    if (is_down() || agenda_->now_ns() < link->requests_cut_until_ns) return;
    if (is_old && !old_leader_answers_) return;
    if (engine_->trim(branch, up_to) > 0) counts_->add(Fault::kTrim);
  });
}

void SimNetwork::restart_engine(int64_t length_ns) {
  counts_->add(Fault::kEngineRestart);
  ++engine_run_;
  down_until_ns_ = agenda_->now_ns() + length_ns;
  agenda_->at(down_until_ns_, [this] { make_durable(); });
}

void SimNetwork::take_standby_away(int64_t length_ns) {
  standby_down_until_ns_ = agenda_->now_ns() + length_ns;
  agenda_->at(standby_down_until_ns_, [this] { make_durable(); });
}

void SimNetwork::block_appends(int64_t length_ns) {
  appends_blocked_until_ns_ = agenda_->now_ns() + length_ns;
}

void SimNetwork::fail_over(size_t records) {
  const size_t before = engine_->leader();
  counts_->add(Fault::kFailover);
  if (records < engine_->size(before)) counts_->add(Fault::kRewind);
  if (read_log_index_ > records) counts_->add(Fault::kVisibleLost, read_log_index_ - records);
  read_log_index_ = std::min(read_log_index_, records);
  old_leader_answers_ = random_->one_in(2);
  engine_->fail_over(records, random_->below(3));
  if (engine_->trimmed(engine_->leader()) < engine_->trimmed(before)) {
    counts_->add(Fault::kTrimUndone);
  }
  ++engine_run_;
  waiting_.clear();
}

}  // namespace weir::storage::replication
