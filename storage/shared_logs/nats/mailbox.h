// What has happened on connections, left there by any thread and taken by the loop.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "storage/format/file.h"

namespace weir::storage::nats {

struct Incoming {
  enum class Kind {
    kOpened,
    kNotOpened,  // all hosts were tried in vain
    kLost,
    kAnswer,
    kNobody,        // an answer of the server that nobody listens to the subject
    kNotPermitted,  // the server has refused something that was sent, or the subject of answers
  };
  Kind kind = Kind::kLost;
  uint64_t connection = 0;  // open() counts them
  uint64_t serial = 0;      // of kAnswer and kNobody: of the request
  size_t payload_max = 0;   // of kOpened: the largest message that the server takes
  std::string text;         // of an answer its bytes; of a failure one line
};

class Mailbox {
 public:
  Mailbox();

  // An answer for which there is no room is dropped, as if the network had lost it.
  void push(Incoming incoming);
  // What has been pushed since the last call.
  std::vector<Incoming> take();
  // Can be read when there is something to take.
  int descriptor() const { return wake_.get(); }

  // For what threads tell one another beside it: `change` is made, and whoever waits looks anew.
  void tell(const std::function<void()>& change);
  void wait_until(const std::function<bool()>& is_so);

 private:
  const Descriptor wake_;
  std::mutex mutex_;
  std::vector<Incoming> waiting_;
  size_t bytes_ = 0;
  std::condition_variable told_;
};

}  // namespace weir::storage::nats
