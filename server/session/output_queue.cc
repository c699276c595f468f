#include "server/session/output_queue.h"

#include <utility>

namespace weir::server {
namespace {

// A tail of so many bytes becomes a chunk, and an empty tail keeps no more memory than that.
constexpr size_t kChunkBytesMin = 64 << 10;

bool is_of_data(ReplyKind kind) { return kind == ReplyKind::kOfData || kind == ReplyKind::kOfTake; }

}  // namespace

bool OutputQueue::turn_touched_data() const {
  return std::any_of(marks_.begin(), marks_.end(),
                     [](const Mark& mark) { return is_of_data(mark.kind); });
}

std::optional<OutputQueue::Takes> OutputQueue::leading_takes() const {
  std::optional<Takes> takes;
  for (const Mark& mark : marks_) {
    if (mark.kind == ReplyKind::kOfData || mark.kind == ReplyKind::kMessage) break;
    if (!takes && mark.kind == ReplyKind::kOfTake) takes.emplace();
    if (takes) *takes = {.end = mark.end, .permits = takes->permits + mark.permits};
  }
  return takes;
}

bool OutputQueue::turn_tells_of_data() const {
  return std::any_of(marks_.begin(), marks_.end(),
                     [](const Mark& mark) { return mark.kind != ReplyKind::kPlain; });
}

void OutputQueue::fail(std::string_view error_line) {
  if (marks_.empty()) return;  // the session ran nothing, and when the turn began is not known
  const std::string old = tail_.substr(turn_begin_ - tail_begin_);
  cut(turn_begin_);
  size_t at = 0;
  auto diverted = std::find_if(diverted_.begin(), diverted_.end(),
                               [this](const Diverted& one) { return one.begin >= turn_begin_; });
  for (Mark& mark : marks_) {
    const size_t next = mark.end - turn_begin_;
    const bool is_diverted = diverted != diverted_.end() && diverted->end == mark.end &&
                             diverted->begin == turn_begin_ + at;
    if (is_diverted) diverted->begin = end();
    if (is_of_data(mark.kind) && next > at) {
      append(error_line);
    } else if (mark.kind != ReplyKind::kMessage) {
      tail_.append(old, at, next - at);
    }
    at = next;
    mark.end = end();
    if (is_diverted) (diverted++)->end = end();
  }
}

void OutputQueue::end_turn() {
  in_turn_ = false;
  marks_.clear();
  if (tail_.size() < kChunkBytesMin) return;
  tail_begin_ += tail_.size();
  chunks_capacity_ += tail_.capacity();
  chunks_.push_back(std::exchange(tail_, {}));
}

void OutputQueue::divert(ReplySink sink) {
  const size_t begin = marks_.size() > 1 ? marks_[marks_.size() - 2].end : turn_begin_;
  diverted_.push_back({.begin = begin, .end = marks_.back().end, .sink = std::move(sink)});
}

void OutputQueue::hand_over_diverted() {
  while (!diverted_.empty()) {
    const Diverted& next = diverted_.front();
    if (sent_ != next.begin || released_ < next.end) return;
    const std::string& front = chunks_.empty() ? tail_ : chunks_.front();
    const size_t bytes = next.end - next.begin;
    next.sink(std::string_view(front).substr(sent_ - front_begin_, bytes));
    diverted_.pop_front();
    advance(bytes);
  }
}

void OutputQueue::sent(size_t bytes) {
  advance(bytes);
  if (!diverted_.empty()) hand_over_diverted();
}

void OutputQueue::advance(size_t bytes) {
  sent_ += bytes;
  if (!chunks_.empty()) {
    if (sent_ == front_begin_ + chunks_.front().size()) drop_front_chunk();
  } else if (sent_ == end()) {
    front_begin_ = tail_begin_ = sent_;
    tail_.clear();
    if (tail_.capacity() > kChunkBytesMin) tail_.shrink_to_fit();
  }
}

void OutputQueue::drop_front_chunk() {
  front_begin_ += chunks_.front().size();
  chunks_capacity_ -= chunks_.front().capacity();
  chunks_.pop_front();
}

void OutputQueue::give_up() {
  sent_ = released_ = front_begin_ = tail_begin_ = turn_begin_ = end();
  chunks_.clear();
  chunks_capacity_ = 0;
  tail_ = {};
  marks_.clear();
  diverted_.clear();
}

}  // namespace weir::server
