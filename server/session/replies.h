// What a session is answered: commands write it, the client says which of it is wanted, and the
// turn decides what becomes of it.
//
// Invariant: what a command has written since its mark() is the end of the queue's tail until it is
// noted, so it can be looked at, cut off or bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "resp/reply.h"
#include "server/session/output_queue.h"

namespace weir::server {

enum class ReplyMode : uint8_t { kOn, kOff, kSkipNext, kSkipping };

class Replies {
 public:
  resp::ReplyWriter& writer() { return writer_; }
  const resp::ReplyWriter& writer() const { return writer_; }
  int protocol() const { return writer_.protocol(); }
  OutputQueue& queue() { return queue_; }
  const OutputQueue& queue() const { return queue_; }

  // Where the next reply begins.
  size_t mark() const { return queue_.tail().size(); }
  std::string_view since(size_t mark) const { return std::string_view(queue_.tail()).substr(mark); }
  void cut(size_t mark) { queue_.tail()->resize(mark); }
  // No more than so many bytes may be unsent: what would pass that throws ReplyTooLong.
  void bound(size_t unsent_bytes_max) {
    writer_.set_size_max(queue_.tail_bytes_max(unsent_bytes_max));
  }
  void unbound() { writer_.set_size_max(SIZE_MAX); }

  // CLIENT REPLY.
  void set_mode(ReplyMode mode) { mode_ = mode; }
  ReplyMode mode() const { return mode_; }
  // The reply of the running command is a push, which CLIENT REPLY does not hold back.
  void note_push() { is_push_ = true; }

  // The sink takes the next reply that is noted.
  void give_next_to(ReplySink sink) { sink_ = std::move(sink); }
  // Where the reply begins that is not noted yet. REQUIRES: the session has a part in the turn. It
  // is not what mark() was before the command if that has made the turn's replies errors (SAVE).
  size_t reply_begin() const { return queue_.marked_end() - queue_.tail_begin(); }
  // A command has replied, or has not, if that is not wanted. `touched_data`: the reply may depend
  // on data.
  void note(bool touched_data) {
    const bool is_usual = mode_ == ReplyMode::kOn && !is_push_;
    if (!is_usual) [[unlikely]]
      apply_mode();
    queue_.mark(touched_data ? ReplyKind::kOfData : ReplyKind::kPlain);
    if (sink_) [[unlikely]]
      queue_.divert(std::exchange(sink_, {}));
  }
  // A message that is no reply.
  void add_message(std::string_view bytes) {
    queue_.append(bytes);
    queue_.mark(ReplyKind::kMessage);
  }
  // An error of the protocol.
  void add_protocol_error(std::string_view error);
  // Replaces the running turn's replies that depended on data by an error.
  void fail_turn(std::string_view error);

  // Answers for how long more than `bytes` have been unsent, as far as this was asked before; 0: no
  // more are.
  int64_t over_ns(size_t bytes, int64_t now_ns);

 private:
  void apply_mode();

  OutputQueue queue_;
  resp::ReplyWriter writer_{queue_.tail()};
  ReplyMode mode_ = ReplyMode::kOn;
  bool is_push_ = false;
  ReplySink sink_;             // of the command that is running, waits or is held; may be empty
  int64_t over_since_ns_ = 0;  // steady; 0: not over what was asked for
};

}  // namespace weir::server
