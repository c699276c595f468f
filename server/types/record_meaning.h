// What a record of a database means, by its type: strings, hashes, lists, sets, sorted sets and
// limiters, and what their elements may be.
//
// This is the one place that says so for records which this process has not made. A command that
// reads a record relies on what stands here.
#pragma once

#include <span>

#include "algorithms/zone.h"
#include "server/limiter/later/read_limiter.h"
#include "storage/format/meaning.h"

namespace weir::server {

class RecordReader {
 public:
  // `zones` are those that stored limits may name.
  explicit RecordReader(const algorithms::Zones* zones) : zones_(*zones) {}

  storage::RecordMeaning read(const storage::ValueView& value);
  // The limits of a limiter that was read last and is good.
  std::span<const algorithms::LimitState> limits() const {
    return std::span(limiter_.limits).first(limiter_.head.limits);
  }

 private:
  storage::RecordMeaning read_limiter(storage::Type type, std::string_view record, size_t lists);

  const algorithms::Zones& zones_;
  ReadLimiter limiter_;
};

}  // namespace weir::server
