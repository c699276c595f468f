#include "tests/replication/chain.h"

#include "base/crc64.h"
#include "storage/format/codec.h"
#include "tests/replication/violation.h"

namespace weir::storage::replication {

std::string make_turn(int64_t instant_ns, uint64_t state, uint64_t payload) {
  std::string turn;
  put_u8(&turn, 1);
  put_u64_le(&turn, static_cast<uint64_t>(instant_ns));
  put_u64_le(&turn, state);
  put_u64_le(&turn, payload);
  return turn;
}

uint64_t state_of_turn(std::string_view turn) { return load_u64_le(turn.data() + 9); }

uint64_t state_after(uint64_t state, std::string_view turn) { return crc64_xz(turn, state); }

std::string make_genesis(uint8_t version) {
  Genesis genesis{.shard_name = "main"};
  if (version != kFirstRecordVersion)
    genesis.origin = {.slots = {{0, 99}}, .instance = {.ms = 1, .random = 2}};
  return encode_record({.nonce = 1, .shard = kShard, .epoch = {}, .version = version}, genesis);
}

void Chain::update(const SimEngine& log, size_t branch) {
  const std::vector<Record>& records = log.records(branch);
  const uint64_t applied = log_state_.head().log_index;
  if (applied > records.size() || (applied > 0 && records[applied - 1].head != log_state_.head())) {
    *this = Chain(ends_at_impossible_);
  }
  for (size_t at = log_state_.head().log_index; at < records.size(); ++at) {
    if (!take(records[at])) return;
  }
}

bool Chain::take(const Record& record) {
  const LogState::Outcome outcome = log_state_.apply(record.head, record.bytes);
  const std::string place = " at log index " + std::to_string(record.head.log_index);
  if (outcome.validity == Validity::kImpossible && ends_at_impossible_) return false;
  if (outcome.validity == Validity::kImpossible) throw Violation("an impossible record" + place);
  if (outcome.validity == Validity::kVoid) {
    ++void_records_;
    return true;
  }
  // A CLAIM without condition may be older than a record that its author had not read, and a turn
  // that is appended again keeps its instant, which may be older than a CLAIM or a HEARTBEAT before
  // it.
  const bool is_claim = outcome.kind == Kind::kClaim;
  if (!is_claim && outcome.instant_ns != 0 && outcome.instant_ns < newest_turn_ns_) {
    throw Violation("I6: an instant runs back" + place);
  }
  for (const std::string& turn : outcome.turns) {
    if (state_of_turn(turn) != state()) throw Violation("I10: a turn on another state" + place);
    if (turn_instant_ns(turn) < newest_turn_ns_) throw Violation("I6: a turn runs back" + place);
    newest_turn_ns_ = turn_instant_ns(turn);
    states_.push_back(state_after(state(), turn));
    turns_.push_back({.bytes = turn, .log_index = record.head.log_index});
  }
  return true;
}

}  // namespace weir::storage::replication
