// The time zones of the machine: names to tables (algorithms/zone.h), from the system's tzdata.
//
// Howard Hinnant's date library is seen in time_zones.cc only. It reads the changes that a file of
// tzdata lists; the rule that follows them for ever is read here (zone_rule.h), since Debian's
// version of the library does not know it.
//
// Invariants
//  1. A client's text is never part of a file's name: it is looked up among the names that tzdata
//     has, which are read once, and only then the zone's file is read, once.
//  2. A zone that was answered stays as it was until the process ends, whatever becomes of tzdata.
//     What is given up is a new tzdata without a restart.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/zone.h"
#include "base/string_hash.h"

namespace weir::server {

struct ZoneTable {
  std::vector<algorithms::Zone::Range> ranges;
  int64_t standard_s = 0;
};

// Where tables come from. Tests have one of their own.
class ZoneSource {
 public:
  // The names of all zones, in order. No names: there is no tzdata.
  virtual const std::vector<std::string>& names() = 0;
  // Reads a zone's table; nothing if that cannot be done. REQUIRES: the name is one of names().
  virtual std::optional<ZoneTable> load(const std::string& name) = 0;

 protected:
  ~ZoneSource() = default;
};

// The machine's. The first call of names() reads the directory (some 10 ms), load() one file (some
// 0.1 ms).
ZoneSource& system_zones();

class TimeZones {
 public:
  explicit TimeZones(ZoneSource* source = &system_zones())
      : source_(source), given_(this, false), stored_(this, true) {}
  TimeZones(const TimeZones&) = delete;
  TimeZones& operator=(const TimeZones&) = delete;

  // What clients write: a name that tzdata has.
  const algorithms::Zones& given() const { return given_; }
  // What was stored: a name that tzdata does not have, or not any more, is answered as a stand-in
  // (Zone::is_known), as far as there are at most kStandInsMax of them.
  const algorithms::Zones& stored() const { return stored_; }

  // Takes another source, for tests. REQUIRES: nothing has been found yet.
  void use(ZoneSource* source) { source_ = source; }

  static constexpr size_t kStandInsMax = 1'000;

 private:
  class View : public algorithms::Zones {
   public:
    View(TimeZones* zones, bool stands_in) : zones_(*zones), stands_in_(stands_in) {}
    const algorithms::Zone* find(std::string_view name) const override;
    std::string accepted() const override;

   private:
    TimeZones& zones_;
    bool stands_in_;
  };

  const algorithms::Zone* find(std::string_view name, bool stands_in);
  const algorithms::Zone* keep(algorithms::Zone zone);

  ZoneSource* source_;
  size_t stand_ins_ = 0;
  StringMap<std::unique_ptr<const algorithms::Zone>> zones_;
  View given_;
  View stored_;
};

}  // namespace weir::server
