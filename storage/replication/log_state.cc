#include "storage/replication/log_state.h"

#include <utility>

#include "base/check.h"

namespace weir::storage::replication {

LogState::LogState(uint64_t shard, const LogBookmark& bookmark)
    : shard_(shard),
      head_(bookmark.head),
      epoch_(bookmark.epoch),
      times_(bookmark.times),
      next_turn_(bookmark.next_turn) {}

LogState::Outcome LogState::apply(const Head& head, std::string_view bytes) {
  Outcome outcome;
  const auto record = decode_record(bytes);
  if (!record || record->envelope.shard != shard_ || head.log_index != head_.log_index + 1) {
    return outcome;
  }
  outcome.validity = judge(*record, head);
  if (outcome.validity == Validity::kImpossible) return outcome;
  outcome.kind = record->kind();
  switchover_to_.clear();
  if (outcome.validity == Validity::kValid) {
    std::visit([&](const auto& body) { take(body, head, &outcome); }, record->body);
  }
  head_ = head;
  return outcome;
}

LogBookmark LogState::bookmark() const {
  WEIR_CHECK(parts_ == 0 && has_begun());
  return {.head = head_, .epoch = epoch_, .next_turn = next_turn_, .times = times_};
}

Validity LogState::judge(const DecodedRecord& record, const Head& head) const {
  const bool is_genesis = record.kind() == Kind::kGenesis;
  if (is_genesis || head.log_index == 1) {
    const bool valid = is_genesis && head.log_index == 1 && record.envelope.epoch == Head{};
    return valid && std::get<Genesis>(record.body).first_turn > 0 ? Validity::kValid
                                                                  : Validity::kImpossible;
  }
  const Head& epoch = record.envelope.epoch;
  if (epoch.log_index < epoch_.log_index) return Validity::kVoid;
  if (epoch != epoch_) {
    return record.kind() == Kind::kClaim ? Validity::kVoid : Validity::kImpossible;
  }
  switch (record.kind()) {
    case Kind::kTurns:
      return judge_turns(std::get<Turns>(record.body));
    case Kind::kPart:
      return judge_part(std::get<Part>(record.body));
    case Kind::kSwitchover:
      return parts_ == 0 ? Validity::kValid : Validity::kImpossible;
    case Kind::kGenesis:
    case Kind::kClaim:
    case Kind::kHeartbeat:
      break;
  }
  return Validity::kValid;
}

Validity LogState::judge_turns(const Turns& turns) const {
  if (turns.turns.empty()) return Validity::kImpossible;
  if (turns.first_turn < next_turn_) return Validity::kVoid;
  return turns.first_turn == next_turn_ && parts_ == 0 ? Validity::kValid : Validity::kImpossible;
}

Validity LogState::judge_part(const Part& part) const {
  if (part.number == 0 || part.number > part.count) return Validity::kImpossible;
  if (part.turn < next_turn_) return Validity::kVoid;
  if (part.turn > next_turn_) return Validity::kImpossible;
  if (parts_ != 0 && part.count != parts_wanted_) return Validity::kImpossible;
  if (part.number <= parts_) return Validity::kVoid;
  if (part_bytes_.size() + part.bytes.size() > kPartsBytesMax) return Validity::kImpossible;
  return part.number == parts_ + 1 ? Validity::kValid : Validity::kImpossible;
}

void LogState::take(const Genesis& genesis, const Head& head, Outcome*) {
  epoch_ = head;
  next_turn_ = genesis.first_turn;
}

void LogState::take(const Claim& claim, const Head& head, Outcome* outcome) {
  epoch_ = head;
  primary_ = claim.author;
  times_ = claim.times;
  outcome->instant_ns = claim.instant_ns;
  drop_parts();
}

void LogState::take(const Turns& turns, const Head&, Outcome* outcome) {
  outcome->first_turn = next_turn_;
  outcome->turns.assign(turns.turns.begin(), turns.turns.end());
  outcome->instant_ns = turn_instant_ns(turns.turns.back());
  next_turn_ += turns.turns.size();
}

void LogState::take(const Part& part, const Head&, Outcome* outcome) {
  parts_wanted_ = part.count;
  part_bytes_ += part.bytes;
  if (++parts_ < parts_wanted_) return;
  outcome->first_turn = next_turn_++;
  outcome->instant_ns = turn_instant_ns(part_bytes_);
  outcome->turns.push_back(std::move(part_bytes_));
  drop_parts();
}

void LogState::take(const Heartbeat& heartbeat, const Head&, Outcome* outcome) {
  primary_ = heartbeat.author;
  outcome->instant_ns = heartbeat.instant_ns;
}

void LogState::take(const Switchover& switchover, const Head&, Outcome* outcome) {
  switchover_to_ = switchover.to;
  outcome->instant_ns = switchover.instant_ns;
}

void LogState::drop_parts() {
  parts_ = parts_wanted_ = 0;
  part_bytes_.clear();
}

}  // namespace weir::storage::replication
