// What moves a session's bytes, as the session's owner sees it.
#pragma once

namespace weir::server {

class Transport {
 public:
  // Sends what is released, and ends if the session has. It and the session may be gone afterwards.
  virtual void flush() = 0;
  // Ends now, whatever is unsent. It and the session are gone afterwards.
  virtual void abandon() = 0;

 protected:
  ~Transport() = default;
};

}  // namespace weir::server
