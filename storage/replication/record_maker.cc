#include "storage/replication/record_maker.h"

#include <utility>
#include <vector>

namespace weir::storage::replication {

std::string RecordMaker::make(const Fold& fold, uint64_t nonce, const Body& body) const {
  return encode_record({.nonce = nonce, .shard = options_.shard, .epoch = fold.epoch()}, body);
}

std::string RecordMaker::make_turns(const Fold& fold, uint64_t nonce, const HeldTurns& held) const {
  std::vector<std::string> turns;
  size_t bytes = 0;
  for (uint64_t turn = fold.next_turn(); turn <= held.newest(); ++turn) {
    std::string next = held.bytes_of(turn);
    if (turns.empty() && needs_parts(next)) return make(fold, nonce, next_part(fold, next));
    bytes += next.size();
    if (!turns.empty() && (needs_parts(next) || bytes > options_.record_bytes_max)) break;
    turns.push_back(std::move(next));
  }
  return make(fold, nonce,
              Turns{.first_turn = fold.next_turn(), .turns = {turns.begin(), turns.end()}});
}

Part RecordMaker::next_part(const Fold& fold, const std::string& turn) const {
  const size_t size = options_.part_bytes_max;
  return {.turn = fold.next_turn(),
          .number = fold.parts() + 1,
          .count = (turn.size() + size - 1) / size,
          .bytes = std::string_view(turn).substr(fold.parts() * size, size)};
}

}  // namespace weir::storage::replication
