// Questions to members of shards over their client ports, for who must not wait: the answer comes
// on the loop. An interface, because tests ask a Server beside this one in the same thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "resp/value.h"

namespace weir::server {

struct PeerQuestion {
  std::string lane;     // one question of a lane is on its way at a time
  std::string address;  // "host:port"
  std::vector<std::string> words;
};

class Peers {
 public:
  // The reply, which is no error; or why there is none, in one line.
  using Answer = Result<resp::Value, std::string>;
  using Then = std::function<void(const Answer& answer)>;

  virtual ~Peers() = default;

  // Returns at once. `then` is called once, by deliver(). REQUIRES: no question of the lane is on
  // its way. `now_ns` is of one clock that never runs back, here and in deliver().
  virtual void ask(PeerQuestion question, Then then, int64_t now_ns) = 0;
  // Hands out the answers that have come.
  virtual void deliver(int64_t now_ns) = 0;
  // Whether any question is on its way, or its answer waits for deliver().
  virtual bool is_asking() const = 0;
};

}  // namespace weir::server
