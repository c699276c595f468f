// What moves a session's bytes, as the owner of the session sees it.
#pragma once

#include <cstddef>

namespace weir::server {

class Transport {
 public:
  // Sends what is released, and ends if the session has ended. The transport and the session may be
  // gone afterwards.
  virtual void flush() = 0;
  // Ends now, whatever is unsent. The transport and the session are gone afterwards.
  virtual void abandon() = 0;
  // Answers how much memory the transport takes.
  virtual size_t memory_bytes() const { return 0; }

 protected:
  ~Transport() = default;
};

}  // namespace weir::server
