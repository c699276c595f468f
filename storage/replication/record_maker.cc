#include "storage/replication/record_maker.h"

#include <utility>
#include <vector>

namespace weir::storage::replication {

std::string RecordMaker::make(const LogState& log_state, uint64_t nonce, const Body& body) const {
  return encode_record({.nonce = nonce,
                        .shard = options_.shard,
                        .epoch = log_state.epoch(),
                        .version = options_.version},
                       body);
}

std::string RecordMaker::make_turns(const LogState& log_state, uint64_t nonce,
                                    const HeldTurns& held) const {
  std::vector<std::string> turns;
  size_t bytes = 0;
  for (uint64_t turn = log_state.next_turn(); turn <= held.newest(); ++turn) {
    std::string next = held.bytes_of(turn);
    if (turns.empty() && needs_parts(next))
      return make(log_state, nonce, next_part(log_state, next));
    bytes += next.size();
    if (!turns.empty() && (needs_parts(next) || bytes > options_.record_bytes_max)) break;
    turns.push_back(std::move(next));
  }
  return make(log_state, nonce,
              Turns{.first_turn = log_state.next_turn(), .turns = {turns.begin(), turns.end()}});
}

Part RecordMaker::next_part(const LogState& log_state, const std::string& turn) const {
  const size_t size = options_.part_bytes_max;
  return {.turn = log_state.next_turn(),
          .number = log_state.parts() + 1,
          .count = (turn.size() + size - 1) / size,
          .bytes = std::string_view(turn).substr(log_state.parts() * size, size)};
}

}  // namespace weir::storage::replication
