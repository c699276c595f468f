// The replies of one session on their way out: commands append them, turns release them, and the
// connection sends them from the front.
//
//     chunk | chunk | ... | tail          sent <= released <= end
//
// A place is a count of bytes since the session began, so it stays true whatever is sent meanwhile.
//
// Invariants
// 1. Only released bytes are offered, in the order in which they were appended.
// 2. What the running turn has appended is in the tail, because only end_turn() makes a chunk of
//    the tail. A command can therefore cut its reply off, and a turn that fails replace all its
//    replies, without looking at older ones.
// 3. Sending moves no byte that stays: a chunk is skipped through, and freed when it is sent whole.
//    The work is linear in the bytes sent, whatever waits after them.
// 4. A reply that a sink takes keeps its place among the others: the sink gets it only after all
//    that stands before it has left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::server {

enum class ReplyKind : uint8_t {
  kPlain,    // true whatever becomes of the turn
  kOfData,   // must not be sent if the turn fails
  kOfTake,   // the same, and it may leave before the turn is committed
  kMessage,  // no reply: tells of what the turn has done, and is dropped with it
};

// Takes one reply, as bytes of the protocol, which are valid until it returns. The queue calls it
// while a turn ends, so it must run no command and end no session. If the session ends first, it is
// never called.
using ReplySink = std::function<void(std::string_view reply)>;

class OutputQueue {
 public:
  OutputQueue() = default;
  OutputQueue(const OutputQueue&) = delete;  // writers point to the tail
  OutputQueue& operator=(const OutputQueue&) = delete;

  // Commands write to the tail. They may append to it, and cut off what the running command has
  // appended.
  std::string* tail() { return &tail_; }
  const std::string& tail() const { return tail_; }
  // Answers how many bytes the tail may hold at most, so that no more than `unsent_max` are unsent.
  size_t tail_bytes_max(size_t unsent_max) const {
    const size_t end_max = sent_ + unsent_max;
    return end_max > tail_begin_ ? end_max - tail_begin_ : 0;
  }
  void append(std::string_view bytes) { tail_.append(bytes); }
  // Drops what was appended after `place`. REQUIRES: the running turn has appended all of it.
  void cut(size_t place) { tail_.resize(place - tail_begin_); }

  size_t end() const { return tail_begin_ + tail_.size(); }
  size_t tail_begin() const { return tail_begin_; }
  size_t unsent_bytes() const { return end() - sent_; }
  // Answers how much memory the queue holds.
  size_t capacity() const { return chunks_capacity_ + tail_.capacity(); }
  // The same, with what is noted of the replies.
  size_t memory_bytes() const { return capacity() + marks_.capacity() * sizeof(Mark); }

  void begin_turn() {
    turn_begin_ = end();
    in_turn_ = true;
  }
  // Tells whether the turn runs that was begun last.
  bool in_turn() const { return in_turn_; }
  // Makes one reply of what was appended since the mark before, or since the turn began.
  void mark(ReplyKind kind) { marks_.push_back({.end = end(), .kind = kind}); }
  // The same for a reply kOfTake that tells of so many permits.
  void mark_take(uint64_t permits) {
    marks_.push_back({.end = end(), .kind = ReplyKind::kOfTake, .permits = permits});
  }
  // Gives the reply that was marked last to a sink in place of the connection: the sink takes it
  // when all before it is sent and it is released itself.
  void divert(ReplySink sink);
  // Answers where the reply that was marked last ends, and the next one begins.
  size_t marked_end() const { return marks_.empty() ? turn_begin_ : marks_.back().end; }
  bool turn_touched_data() const;
  // Tells whether anything of the running turn tells of what was done in it: replies of data, and
  // messages.
  bool turn_tells_of_data() const;
  // Answers what stands at the beginning of the running turn's replies and may leave before the
  // turn is committed: where it ends, and of how many permits it tells. None: nothing of data does.
  struct Takes {
    size_t end = 0;
    uint64_t permits = 0;
  };
  std::optional<Takes> leading_takes() const;
  size_t turn_begin() const { return turn_begin_; }
  bool has_released(size_t place) const { return released_ >= place; }
  // Tells whether all of earlier turns is released.
  bool owes_nothing() const { return released_ >= turn_begin_; }
  size_t turn_bytes() const { return end() - turn_begin_; }
  // Replaces each reply of the running turn that is of data by `error_line`, and drops the turn's
  // messages.
  void fail(std::string_view error_line);
  void end_turn();

  // Lets what stands before `place` be sent.
  void release(size_t place) {
    released_ = std::max(released_, place);
    if (!diverted_.empty()) hand_over_diverted();
  }
  // Answers the next bytes that may be sent, none if there are none. Others may follow them.
  std::string_view to_send() const {
    const std::string& front = chunks_.empty() ? tail_ : chunks_.front();
    size_t end = std::min(released_, front_begin_ + front.size());
    if (!diverted_.empty()) end = std::min(end, diverted_.front().begin);
    return std::string_view(front).substr(sent_ - front_begin_, end - sent_);
  }
  // Takes note that so many bytes of to_send() have left.
  void sent(size_t bytes);
  // Drops what is unsent. Places are counted on from where they were.
  void give_up();

 private:
  struct Mark {
    size_t end;
    ReplyKind kind;
    uint64_t permits = 0;  // of kOfTake
  };

  // A reply that a sink takes. It is in one chunk, or in the tail.
  struct Diverted {
    size_t begin;
    size_t end;
    ReplySink sink;
  };

  void hand_over_diverted();
  void advance(size_t bytes);
  void drop_front_chunk();

  std::list<std::string> chunks_;  // of earlier turns, none of them empty
  std::string tail_;
  size_t chunks_capacity_ = 0;
  size_t front_begin_ = 0;  // the place of the first chunk's first byte; the tail's without chunks
  size_t tail_begin_ = 0;
  size_t sent_ = 0;
  size_t released_ = 0;
  size_t turn_begin_ = 0;
  bool in_turn_ = false;
  std::vector<Mark> marks_;       // of the running turn
  std::list<Diverted> diverted_;  // in the order of their places
};

}  // namespace weir::server
