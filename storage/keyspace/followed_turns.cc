#include "storage/keyspace/followed_turns.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "storage/format/codec.h"
#include "storage/keyspace/turn_check.h"
#include "storage/keyspace/turn_commit.h"

namespace weir::storage {
namespace {

Status look_at_new(const TurnBatch& batch, uint64_t newest, TurnCheck* check) {
  uint64_t turn = batch.first_turn;
  for (const std::string& record : batch.turns) {
    const uint64_t number = turn++;
    if (number <= newest) continue;
    if (const Status status = check->look(record); !status.ok())
      return Status::refused("turn " + std::to_string(number) + ": " + status.message());
  }
  return {};
}

}  // namespace

// From here on no id of a list was drawn, as far as the log says.
ElementsId FollowedTurns::elements_bound() {
  const Ref bound = records_.look_up_system(kNextElementsIdRecord);
  return bound.exists() ? Reader(bound.value()).varint() : 1;
}

Status FollowedTurns::follow(const TurnBatch& batch) {
  WEIR_CHECK(options_.follows || batch.last_turn() <= end_.turn);
  if (batch.first_turn > end_.turn + 1)
    return Status::refused("turn " + std::to_string(end_.turn + 1) + " comes next, got turn " +
                           std::to_string(batch.first_turn));
  if (batch.last_turn() > end_.turn) turn_.begin_command(turn_.now_ns());  // old values are read
  list_names_.begin_batch();
  TurnCheck check(set_, elements_bound(), options_.meaning.get(), &list_names_);
  if (Status status = look_at_new(batch, end_.turn, &check); !status.ok()) return status;
  if (Status status = append(batch); !status.ok()) return status;
  uint64_t turn = batch.first_turn;
  for (const std::string& record : batch.turns) {
    if (turn > end_.turn) {
      if (Status status = apply(turn, record); !status.ok()) return status;
    }
    ++turn;
  }
  list_names_.end_batch();
  return {};
}

// A turn that was not applied whole may be applied again.
Status FollowedTurns::apply(uint64_t turn, std::string_view record) {
  if (Status status = replay_.follow(record, &end_); !status.ok()) return status;
  end_.turn = turn;
  end_.bytes_appended += record.size();
  schedule_.note_turn(replay_.changed(), record.size());
  dirty_bytes_.begin_turn();
  return {};
}

Status FollowedTurns::append(const TurnBatch& batch) {
  if (store_.failed()) return Status::failed("the store has failed and was not reopened yet");
  Status status = store_->append_batch(batch);
  if (status.ok()) {
    end_.logged_turn = std::max(end_.logged_turn, batch.last_turn());
    for (const std::string& record : batch.turns)
      end_.logged_instant_ns = std::max(end_.logged_instant_ns, instant_of_turn(record));
  } else {
    store_.mark_failed();
  }
  return status;
}

}  // namespace weir::storage
