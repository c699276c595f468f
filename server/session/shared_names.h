// Names that are kept once for several sessions, so that none of them can be charged with them.
#pragma once

#include <cstddef>

namespace weir::server {

class SharedNames {
 public:
  // Answers how much memory they take.
  virtual size_t bytes() const = 0;
  // Gives up at least so many bytes of them, or all.
  virtual void give_up(size_t bytes) = 0;

 protected:
  ~SharedNames() = default;
};

}  // namespace weir::server
