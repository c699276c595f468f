// Whether a session is blocked: one of its commands replies later (waiting/waiting.h), and the
// session runs nothing else meanwhile.
#pragma once

#include <cstddef>

#include "server/session/kept_bytes.h"

namespace weir::server {

class WaitState {
 public:
  // `kept`: where it writes down what waits.
  explicit WaitState(KeptBytes* kept) : kept_(*kept) {}

  // Tells whether the running command may wait. In a transaction or a script it may not.
  bool permitted() const { return permitted_; }
  void permit(bool permitted) { permitted_ = permitted; }

  bool waiting() const { return waiting_; }
  // What a wait takes: its request, its places in queues, and of that the words of the request as
  // the client has sent them.
  struct Bytes {
    size_t all = 0;
    size_t words = 0;
  };
  // To be called again if it waits for something else.
  void begin(const Bytes& bytes) {
    waiting_ = true;
    note(bytes);
  }
  void end() {
    waiting_ = false;
    note({});
  }
  size_t words_bytes() const { return words_bytes_; }

 private:
  void note(const Bytes& bytes) {
    kept_.set(Kept::kWait, bytes.all);
    words_bytes_ = bytes.words;
  }

  KeptBytes& kept_;
  size_t words_bytes_ = 0;
  bool permitted_ = false;
  bool waiting_ = false;
};

}  // namespace weir::server
