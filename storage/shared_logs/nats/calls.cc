#include "storage/shared_logs/nats/calls.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace weir::storage::nats {

void Calls::ask(Outgoing message, int64_t allowed_ns, Then then) {
  pending_[++serial_] = {
      .allowed_ns = allowed_ns, .deadline_ns = std::nullopt, .then = std::move(then)};
  link_.send(serial_, std::move(message));
}

void Calls::take(const Incoming& incoming) {
  const bool is_answer = incoming.kind == Incoming::Kind::kAnswer;
  if (pending_.count(incoming.serial) == 0) return;
  newest_answered_ = std::max(newest_answered_, incoming.serial);
  end(incoming.serial,
      {.kind = is_answer ? Reply::Kind::kAnswer : Reply::Kind::kNobody, .text = incoming.text});
}

void Calls::note_time(int64_t now_ns) {
  noted_ns_ = now_ns;
  for (auto& [serial, pending] : pending_)
    if (!pending.deadline_ns) pending.deadline_ns = now_ns + pending.allowed_ns;
}

Calls::Expired Calls::expire(int64_t now_ns) {
  std::vector<uint64_t> over;
  for (const auto& [serial, pending] : pending_)
    if (now_ns >= pending.deadline_ns.value_or(INT64_MAX)) over.push_back(serial);
  if (over.empty()) return Expired::kNothing;
  const bool is_alive = newest_answered_ > over.back();
  for (const uint64_t serial : over) end(serial, {.kind = Reply::Kind::kExpired, .text = ""});
  return is_alive ? Expired::kSome : Expired::kAndNothingSince;
}

// What is asked from inside is of another connection.
void Calls::lose_all() {
  for (const auto& [serial, pending] : std::exchange(pending_, {}))
    pending.then({.kind = Reply::Kind::kLost, .text = ""});
}

int64_t Calls::next_deadline() const {
  int64_t next = INT64_MAX;
  for (const auto& [serial, pending] : pending_)
    next = std::min(next, pending.deadline_ns.value_or(noted_ns_ + pending.allowed_ns));
  return next;
}

void Calls::end(uint64_t serial, const Reply& reply) {
  const auto found = pending_.find(serial);
  if (found == pending_.end()) return;
  const Then then = std::move(found->second.then);
  pending_.erase(found);
  then(reply);
}

}  // namespace weir::storage::nats
