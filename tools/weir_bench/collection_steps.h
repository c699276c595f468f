// The requests on collections and the replies that they must get.
//
// A connection has `elements` elements of its own, spread evenly over collections of `size` each,
// so that runs of different sizes touch equally much memory. A step is one command, or two that
// leave the size as it was. Which element a step is about, and what the replies are, follows from
// the step's number alone: so a run goes on where another ended, and every byte is known before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/weir_bench/options.h"

namespace weir::bench {

class CollectionSteps {
 public:
  // REQUIRES: is_collection(options.kind), and size divides elements.
  CollectionSteps(const Options& options, int64_t connection);

  size_t commands_per_step() const;

  // Filling: each command puts in some hundred elements.
  uint64_t fills() const { return collections_ * fills_of_each_; }
  void add_fill(uint64_t fill, std::string* requests, std::string* replies) const;
  void add_step(uint64_t step, std::string* requests, std::string* replies) const;

 private:
  std::string key_of(uint64_t collection) const;

  const Kind kind_;
  const uint64_t size_;
  const uint64_t elements_;
  const uint64_t collections_;
  const uint64_t fills_of_each_;
  const std::string prefix_;
};

}  // namespace weir::bench
