// One connection of a fuzz target that has several, and what it has asked for without an answer.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "server/session/session.h"

namespace weir::fuzz {

struct Client {
  server::Session* session = nullptr;
  std::string received;
  std::deque<std::string> unanswered;

  // Changes when one of its requests runs, or is answered.
  uint64_t progress() const {
    return unanswered.size() + (session == nullptr ? 0 : session->activity().commands() << 20);
  }
};

}  // namespace weir::fuzz
