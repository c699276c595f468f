// A time zone: which offset from UTC holds from when on, as a table. Calendars (calendar.h) follow
// it; where tables come from is the caller's business.
//
// It must not know tzdata, names of files or a clock, and holds no state: a limit points to its
// zone, and whoever made the limit keeps the zone alive. On disk stands its name, because nothing
// else of tzdata is the same on two machines. For a stored name that tzdata has no more, a stand-in
// at UTC is made: the key can be shown, be reset and expire.
//
// The zone's days. Local time jumps, so a day of the calendar is bounded by instants: a date begins
// at the first instant at which the zone's clocks show its midnight or more.
//
//     clocks go from 00:00 to 01:00     the date begins at 01:00, and has 23 hours
//     midnight comes twice              it begins at the first
//     a date is left out                its beginning is also that of the next: it has no instant
//
// Invariants
//  1. first_s() does not fall when its argument grows, so that windows between two of its values
//     follow one another without hole or overlap.
//  2. A table is bounded: what it says last holds for ever.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::algorithms {

inline constexpr size_t kZoneNameBytesMax = 40;  // the longest of tzdata's has 32
inline constexpr int64_t kZoneOffsetSMax = 26 * 3'600;

// Tells whether a text can be a zone's name: letters, digits, _ + - and /.
bool is_zone_name(std::string_view text);

class Zone {
 public:
  // The offset that holds from an instant until the next range's, in seconds since the epoch and
  // seconds east of UTC.
  struct Range {
    int64_t from_s = 0;
    int64_t offset_s = 0;

    friend bool operator==(const Range&, const Range&) = default;
  };

  // The first range also holds before its instant. `standard_s` is the offset without daylight
  // saving, by which hours are aligned. REQUIRES: is_zone_name(name); at least one range; rising
  // instants; offsets within kZoneOffsetSMax.
  Zone(std::string name, std::vector<Range> ranges, int64_t standard_s);
  // Makes a stand-in for a zone whose table is not to be had: UTC, and is_known() is false.
  explicit Zone(std::string name);

  const std::string& name() const { return name_; }
  bool is_known() const { return known_; }
  int64_t standard_s() const { return standard_s_; }

  // Answers the offset at an instant.
  int64_t offset_s(int64_t at_s) const;
  // Answers the first instant at which local time, as if it were UTC, is `local_s` or more.
  int64_t first_s(int64_t local_s) const;

 private:
  std::vector<Range>::const_iterator range_at(int64_t at_s) const;

  std::string name_;
  std::vector<Range> ranges_;
  int64_t standard_s_ = 0;
  bool known_ = true;
};

// Where names become zones. What it answers stays valid as long as any limit may.
class Zones {
 public:
  // Finds a zone; null if there is none of this name, in these letters.
  virtual const Zone* find(std::string_view name) const = 0;
  // Answers what is accepted, as a RangeError says it.
  virtual std::string accepted() const = 0;

 protected:
  ~Zones() = default;
};

}  // namespace weir::algorithms
