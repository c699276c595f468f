#include "server/core/disk/stored_meaning.h"

#include <algorithm>

#include "server/cluster/slot_table.h"
#include "server/limiter/policy/settings_journal.h"
#include "server/script/lua/sha1.h"
#include "storage/format/codec.h"

namespace weir::server {
namespace {

using storage::Fault;

constexpr uint8_t kScriptFormat = 1;
constexpr uint8_t kFunctionsFormat = 1;
constexpr size_t kSha1Bytes = 20;

// System records that are numbers: how many bytes each has; 0: a varint.
struct NumberRecord {
  std::string_view name;
  size_t bytes;
};
constexpr NumberRecord kNumbers[] = {{"next-incarnation", 0}, {"next-elements-id", 0},
                                     {"unique-ids", 0},       {"clock-lead-ns", 8},
                                     {"clock-reset", 16},     {"scripts", 4}};

bool is_varint(std::string_view payload) {
  storage::Reader reader(payload);
  reader.varint();
  return reader.ok() && reader.at_end();
}

Fault fault_of_number(std::string_view name, std::string_view payload) {
  const auto number = std::ranges::find(kNumbers, name, &NumberRecord::name);
  const bool good = number->bytes == 0 ? is_varint(payload) : payload.size() == number->bytes;
  return good ? Fault() : Fault{"it is no number as it must be"};
}

Fault fault_of_script(std::string_view payload) {
  storage::Reader reader(payload);
  const uint8_t format = reader.u8();
  reader.u8();
  const std::string_view name = reader.bytes(kSha1Bytes);
  if (!reader.ok() || format != kScriptFormat)
    return {"it cannot be read as a script", format > kScriptFormat};
  const auto sum = script::sha1(reader.rest());
  const bool is_its = std::equal(sum.begin(), sum.end(), name.begin(),
                                 [](uint8_t a, char b) { return a == static_cast<uint8_t>(b); });
  return is_its ? Fault() : Fault{"the script's SHA-1 is another one"};
}

Fault fault_of_functions(std::string_view payload) {
  storage::Reader reader(payload);
  const uint8_t format = reader.u8();
  if (format != kFunctionsFormat)
    return {"it cannot be read as libraries of functions", format > kFunctionsFormat};
  while (reader.ok() && !reader.at_end()) reader.sized_bytes();
  return reader.ok() ? Fault() : Fault{"a library of functions is cut short"};
}

Fault fault_of_slots(std::string_view payload) {
  if (SlotTable::decode(payload)) return {};
  return {"it cannot be read as a table of slots",
          storage::Reader(payload).u8() > SlotTable::kFormat};
}

}  // namespace

SystemRecord system_record(std::string_view name) {
  const auto begins = [name](std::string_view prefix) { return name.starts_with(prefix); };
  if (begins("db/")) return SystemRecord::kDatabase;
  if (begins("script/")) return SystemRecord::kScript;
  if (name == "functions") return SystemRecord::kFunctions;
  if (name == kSlotsRecord) return SystemRecord::kSlotTable;
  if (std::ranges::find(kNumbers, name, &NumberRecord::name) != std::end(kNumbers))
    return SystemRecord::kNumber;
  if (begins("policy/")) return SystemRecord::kPolicy;
  if (is_settings_record(name)) return SystemRecord::kOfSettings;
  for (const std::string_view prefix :
       {"policy-count/", "policy-drop/", "policy-change/", "policies-of-file"})
    if (begins(prefix)) return SystemRecord::kOfPolicies;
  return SystemRecord::kUnknown;
}

Fault fault_of_system_record(std::string_view name, std::string_view payload) {
  switch (system_record(name)) {
    case SystemRecord::kNumber:
      return fault_of_number(name, payload);
    case SystemRecord::kScript:
      return fault_of_script(payload);
    case SystemRecord::kFunctions:
      return fault_of_functions(payload);
    case SystemRecord::kSlotTable:
      return fault_of_slots(payload);
    case SystemRecord::kOfSettings:
      return fault_of_settings_record(name, payload);
    case SystemRecord::kUnknown:
      return {"this weir-server knows no such record", true};
    case SystemRecord::kDatabase:
    case SystemRecord::kPolicy:
    case SystemRecord::kOfPolicies:
      break;
  }
  return {};
}

uint64_t libraries_of(std::string_view payload) {
  storage::Reader reader(payload);
  reader.u8();
  uint64_t libraries = 0;
  for (; reader.ok() && !reader.at_end(); ++libraries) reader.sized_bytes();
  return libraries;
}

}  // namespace weir::server
