// What a session is answered: commands write it, the client says which of it is wanted, and the
// turn decides what becomes of it.
//
// Invariant: until a command's reply is noted, it is the end of the queue's tail, from savepoint()
// on; so it can be looked at, cut off or bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

  // Answers where in the tail the next reply begins.
  size_t savepoint() const { return queue_.tail().size(); }
  std::string_view since(size_t savepoint) const {
    return std::string_view(queue_.tail()).substr(savepoint);
  }
  void cut(size_t savepoint) { queue_.tail()->resize(savepoint); }
  // Bounds what may be unsent: a command that would write more than so many bytes ends by
  // ReplyTooLong.
  void bound(size_t unsent_bytes_max) {
    writer_.set_size_max(queue_.tail_bytes_max(unsent_bytes_max));
  }
  void unbound() { writer_.set_size_max(SIZE_MAX); }

  // Which replies the client wants, as it has said by CLIENT REPLY.
  void set_mode(ReplyMode mode) { mode_ = mode; }
  ReplyMode mode() const { return mode_; }
  // Takes note that the reply of the running command is a push, which CLIENT REPLY does not hold
  // back.
  void note_push() { is_push_ = true; }

  // Makes a sink take the next reply that is noted.
  void give_next_to(ReplySink sink) { sink_ = std::move(sink); }
  // Answers where the reply begins that is not noted yet. A command that has replaced the turn's
  // replies by errors (SAVE) has moved that place from where savepoint() was before it. REQUIRES:
  // the session has a part in the turn.
  size_t reply_begin() const { return queue_.marked_end() - queue_.tail_begin(); }
  // Ends the reply of a command, and drops it if the client wants none. `touched_data` tells that
  // the reply may depend on data, `early_permits` that it may leave before its turn is committed.
  void note(bool touched_data, std::optional<uint64_t> early_permits = {}) {
    const bool is_usual = mode_ == ReplyMode::kOn && !is_push_;
    if (!is_usual) [[unlikely]]
      apply_mode();
    early_permits ? queue_.mark_take(*early_permits)
                  : queue_.mark(touched_data ? ReplyKind::kOfData : ReplyKind::kPlain);
    if (sink_) [[unlikely]]
      queue_.divert(std::exchange(sink_, {}));
  }
  // Adds a message that is no reply.
  void add_message(std::string_view bytes) {
    queue_.append(bytes);
    queue_.mark(ReplyKind::kMessage);
  }
  // Adds the error line for bytes that break the protocol.
  void add_protocol_error(std::string_view error);
  // Replaces the running turn's replies that depended on data by an error.
  void fail_turn(std::string_view error);

  size_t unsent_bytes() const { return queue_.unsent_bytes(); }
  // Answers for how long more than `bytes` have been unsent, as far as earlier calls have seen; 0
  // if no more are now.
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
