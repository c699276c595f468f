#include "server/failover/member/member_port.h"

#include <algorithm>
#include <utility>

#include "server/failover/peers/member_words.h"
#include "server/os/log.h"

namespace weir::server {

using storage::Status;
using storage::TurnBatch;
using storage::replication::Appended;
using storage::replication::Read;

void MemberPort::begin_protocol(storage::replication::Member* member,
                                const std::vector<LogBookmark>& bookmarks) {
  member_ = member;
  trail_ = storage::replication::BookmarkTrail(bookmarks);
}

void MemberPort::end_protocol() {
  ++life_;
  answers_.clear();
  read_asked_.reset();
  stopped_ = {};
  data_moved_ = true;
}

void MemberPort::take_in(While when) {
  while (!answers_.empty()) {
    if (when == While::kInATurn) {
      if (!answers_.front()(when)) return;
      answers_.pop_front();
    } else {
      const auto answer = std::move(answers_.front());
      answers_.pop_front();
      (void)answer(when);
    }
  }
}

void MemberPort::append(std::optional<Head> expected, std::string record) {
  const size_t bytes = record.size();
  parts_.replies->absence().sent(parts_.clock->boot_ns());
  parts_.log->append(expected, std::move(record),
                     [this, bytes, life = life_](const Appended& came) {
                       if (life != life_) return;
                       answers_.push_back([this, came, bytes](While when) {
                         if (!member_->appended(came, now(), when)) return false;
                         if (came.outcome != Appended::Outcome::kDone) return true;
                         parts_.trimmer->note(came.head.log_index, bytes);
                         parts_.replies->absence().acknowledged();
                         return true;
                       });
                     });
}

void MemberPort::read(Head after, size_t bytes_max) {
  read_asked_ = ReadAsked{.after = after, .bytes_max = bytes_max};
  ask_to_read();
}

void MemberPort::ask_to_read() {
  if (!read_asked_ || (!instants_ && keys_->work().overloaded())) return;
  const ReadAsked asked = *std::exchange(read_asked_, std::nullopt);
  parts_.log->read(asked.after, asked.bytes_max, [this, life = life_](Read came) {
    if (life != life_) return;
    answers_.push_back([this, came = std::move(came)](While when) {
      if (when == While::kInATurn) return false;
      for (const storage::replication::Record& record : came.records) parts_.trimmer->note(record);
      member_->read(came, now());
      return true;
    });
  });
}

// A turn that is refused says nothing of the own store: it would be refused after each restart.
bool MemberPort::follow(const Batch& batch) {
  const std::string bookmark = encode_bookmark(batch.bookmark);
  const Status status =
      keys_->follow({.first_turn = batch.first_turn, .turns = batch.turns, .bookmark = bookmark});
  if (status.is_refusal()) {
    bad_turn_ = status.message();
    return false;
  }
  data_moved_ = true;
  trail_.note(batch.first_turn, batch.bookmark);
  if (!status.ok()) parts_.plan->fail(status);
  return true;
}

void MemberPort::write_committed(const Batch& batch) {
  const std::string bookmark = encode_bookmark(batch.bookmark);
  const Status status =
      keys_->follow({.first_turn = batch.first_turn, .turns = batch.turns, .bookmark = bookmark});
  trail_.note(batch.first_turn, batch.bookmark);
  if (!status.ok()) parts_.plan->fail(status);
}

// A bookmark alone stands with the turn before the next one.
void MemberPort::replace_bookmark(const LogBookmark& bookmark) {
  const std::string bytes = encode_bookmark(bookmark);
  const TurnBatch batch{.first_turn = bookmark.next_turn, .turns = {}, .bookmark = bytes};
  trail_.note(bookmark.next_turn, bookmark);
  if (const Status status = keys_->store_in_use()->append_batch(batch); !status.ok())
    parts_.plan->fail(status);
}

void MemberPort::promote(int64_t instant_ns) {
  instants_.emplace(std::max(instant_ns, keys_->metrics().instant_ns), now());
  parts_.replies->promote();
  server_->timeline().synchronise();
  log_warning("this is the primary of shard {} from turn {} on, epoch {}", parts_.plan->shard,
              keys_->turn() + 1, member_->log_state().epoch().log_index);
  server_->shard_role().promote();
}

void MemberPort::demote(Reason reason) {
  log_warning(
      "this is not the primary of shard {} any more: {}; {} turns that were not committed are "
      "dropped",
      parts_.plan->shard, words_of(reason), keys_->turn() - keys_->logged_turn());
  const uint64_t lost = parts_.replies->demote();
  if (lost > 0) log_warning("clients were told of {} permits in them", lost);
  instants_.reset();
  if (const Status status = server_->shard_role().demote(); !status.ok()) parts_.plan->fail(status);
  parts_.stale_clients->demoted(parts_.clock->boot_ns(), server_);
}

void MemberPort::stop(Reason reason) {
  stopped_ = {.because = std::string(words_of(reason)), .copies = reason == Reason::kTrimmed};
  if (reason == Reason::kBadTurns) stopped_.because += ": " + bad_turn_;
  log_critical("this member of shard {} has stopped and follows no more: {}", parts_.plan->shard,
               stopped_.because);
}

int64_t MemberPort::instant_ns() {
  if (is_in_turn_) return keys_->running().now_ns();
  const int64_t newest_ns = keys_->metrics().instant_ns;
  return instants_ ? std::max(instants_->at(now()), newest_ns) : newest_ns;
}

}  // namespace weir::server
