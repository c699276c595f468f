// The way of appends and reads between members and the engine: late, lost, refused, repeated.
#include <utility>

#include "tests/replication/world.h"

namespace weir::storage::replication {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1000 * kMs;
constexpr int64_t kGiveUpNs = 3 * kSecond;  // three times log-timeout
constexpr int64_t kLockTimeoutNs = 800 * kMs;

}  // namespace

int64_t World::delay_ns() {
  if (now_ns_ < slow_until_ns_) return random_.between(20, 900) * kMs;
  if (!is_quiet_ && random_.one_in(60)) return random_.between(1, 400) * kMs;
  return random_.between(typical_delay_ns_ / 4, typical_delay_ns_ * 2);
}

void World::append(Process* process, std::optional<Head> expected, std::string record) {
  auto call = std::make_shared<Call>();
  call->node = index_of(process);
  Node& node = *nodes_[call->node];
  call->life = node.life;
  call->branch = node.branch;
  call->expected = expected;
  call->record = std::move(record);
  at(now_ns_ + kGiveUpNs,
     [this, call] { answer(call, {.outcome = Appended::Outcome::kUnknown, .head = {}}, 0); });
  const bool is_cut = now_ns_ < node.requests_cut_until_ns || now_ns_ < down_until_ns_;
  if (!is_cut) return at(now_ns_ + delay_ns(), [this, call] { arrive(call); });
  if (random_.one_in(2)) {
    // It lies in a buffer and is delivered when the connection works again, or whenever.
    at(now_ns_ + random_.between(200, 6000) * kMs, [this, call] { arrive(call); });
  } else if (random_.one_in(2)) {
    answer(call, {.outcome = Appended::Outcome::kUnknown, .head = {}},
           random_.between(1, 500) * kMs);
  }
}

// The request is at the engine.
void World::arrive(const std::shared_ptr<Call>& call) {
  if (now_ns_ < down_until_ns_) return;
  const bool is_old = call->branch != log_.primary();
  if (is_old && !old_primary_answers_) return;
  if (now_ns_ < appends_blocked_until_ns_) {
    if (random_.one_in(2)) {
      answer(call, {.outcome = Appended::Outcome::kRefused, .head = {}}, kLockTimeoutNs);
    } else {
      at(appends_blocked_until_ns_ + delay_ns(), [this, call] { arrive(call); });
    }
    return;
  }
  if (!is_quiet_ && random_.one_in(300)) {
    return answer(call, {.outcome = Appended::Outcome::kRefused, .head = {}}, delay_ns());
  }
  call->result = log_.append(call->branch, call->expected, call->record);
  call->engine_run = engine_run_;
  if (call->result.outcome != Appended::Outcome::kDone) {
    return answer(call, call->result, delay_ns());
  }
  if (!is_quiet_ && call->expected && random_.one_in(200)) {
    // A connection sends it again, and the answer to the second attempt comes first.
    answer(call, {.outcome = Appended::Outcome::kRefused, .head = {}}, delay_ns());
  }
  at(now_ns_ + delay_ns() / 2, [this, call] { acknowledge_durable(call); });
}

// The engine's standby has the record, or does not get it now.
void World::acknowledge_durable(const std::shared_ptr<Call>& call) {
  const bool is_old = call->branch != log_.primary();
  if (options_.loses_acknowledged) {
    if (call->engine_run == engine_run_ || is_old) answer(call, call->result, delay_ns());
    return;
  }
  if (is_old || now_ns_ < down_until_ns_) return;
  if (now_ns_ < standby_down_until_ns_) {
    waiting_.push_back(call);
    return;
  }
  log_.make_durable(call->branch, call->result.head.position);
  if (call->engine_run == engine_run_) answer(call, call->result, delay_ns());
}

// The engine's standby is back, and has everything soon.
void World::make_durable() {
  if (now_ns_ < standby_down_until_ns_ || now_ns_ < down_until_ns_) return;
  log_.make_durable(log_.primary(), log_.size(log_.primary()));
  for (const auto& call : std::exchange(waiting_, {})) acknowledge_durable(call);
}

void World::answer(const std::shared_ptr<Call>& call, const Appended& answer, int64_t after_ns) {
  at(now_ns_ + after_ns, [this, call, answer] {
    const Node& node = *nodes_[call->node];
    const bool gives_up = answer.outcome == Appended::Outcome::kUnknown;
    if (call->answered || (!gives_up && now_ns_ < node.answers_cut_until_ns)) return;
    call->answered = true;
    on_node(call->node, call->life,
            [answer, branch = call->branch](Process* process, Instants now) {
              process->set_branch(branch);
              process->deliver(answer, now);
            });
  });
}

void World::read(Process* process, Head after, size_t bytes_max) {
  const size_t index = index_of(process);
  const uint64_t life = nodes_[index]->life;
  const size_t branch = nodes_[index]->branch;
  const auto reply = [this, index, life, branch](Read read, int64_t after_ns) {
    at(now_ns_ + after_ns, [this, index, life, branch, read = std::move(read)] {
      on_node(index, life, [read, branch](Process* to, Instants now) {
        to->set_branch(branch);
        to->deliver(read, now);
      });
    });
  };
  at(now_ns_ + delay_ns(), [this, index, branch, after, bytes_max, reply] {
    const Node& node = *nodes_[index];
    const bool is_dead = branch != log_.primary() && !old_primary_answers_;
    if (now_ns_ < node.requests_cut_until_ns || now_ns_ < node.answers_cut_until_ns ||
        now_ns_ < down_until_ns_ || is_dead) {
      const bool hangs = random_.one_in(2);
      return reply(Read{}, hangs ? kGiveUpNs : random_.between(1, 300) * kMs);
    }
    size_t visible = log_.size(branch);
    if (!is_quiet_ && random_.one_in(100)) visible -= std::min(visible - 1, random_.below(3));
    reply(log_.read(branch, after, bytes_max, visible), delay_ns());
  });
}

}  // namespace weir::storage::replication
