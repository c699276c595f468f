// Sessions by the bytes that they are counted with, so that one of the largest is found at once,
// however many there are: a list for each power of two, and each session knows its place.
//
// Invariant: a session is here if, and only if, something of it is counted and it may be evicted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::server {

class Session;

class SessionsBySize {
 public:
  // Puts a session where it belongs now. To be called when its counted bytes have changed, or
  // whether it may be evicted.
  void place(Session* session);
  // Answers the largest session, or one of at least half its bytes if very many are as large; null:
  // there is none.
  Session* largest() const;

 private:
  static constexpr size_t kLists = 64;

  void take_out(Session* session);

  std::array<std::vector<Session*>, kLists> lists_;
  uint64_t filled_ = 0;  // a bit for each list that is not empty
};

}  // namespace weir::server
