// What stored records mean, for storage::Keyspace and for who looks at data (contents.h): records
// of databases by types/record_meaning.h, system records by this.
//
// A system record that is good can be read at every start; whether a policy or a library still says
// something is told by an opening.
#pragma once

#include <cstdint>
#include <string_view>

#include "server/os/time_zones.h"
#include "server/types/record_meaning.h"
#include "storage/format/meaning.h"

namespace weir::server {

enum class SystemRecord : uint8_t {
  kUnknown,  // no version up to this one has such a record
  kDatabase,
  kNumber,
  kScript,
  kFunctions,
  kPolicy,
  kOfPolicies,  // what is kept beside them
  kSlotTable,
  kOfSettings,  // of a cluster of shards
};
SystemRecord system_record(std::string_view name);
// Of a record that is no database's.
storage::Fault fault_of_system_record(std::string_view name, std::string_view payload);
// How many libraries a good record of functions has.
uint64_t libraries_of(std::string_view payload);

class StoredMeaning final : public storage::Meaning {
 public:
  storage::RecordMeaning of_record(const storage::ValueView& value) override {
    return reader_.read(value);
  }
  storage::Fault of_system_record(std::string_view name, std::string_view payload) override {
    return fault_of_system_record(name, payload);
  }
  // The limits of a limiter that was asked about last and is good.
  std::span<const algorithms::LimitState> limits() const { return reader_.limits(); }

 private:
  TimeZones zones_;
  RecordReader reader_{&zones_.stored()};
};

}  // namespace weir::server
