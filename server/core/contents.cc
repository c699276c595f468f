#include "server/upkeep/contents.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "algorithms/limiter_record.h"
#include "base/ascii.h"
#include "base/time_units.h"
#include "server/script/sha1.h"
#include "storage/codec.h"
#include "storage/owner.h"

namespace weir::server {
namespace {

using storage::Type;

constexpr size_t kDamageLinesMax = 100;
constexpr size_t kShownMax = 100;
constexpr int kHidden = -1;
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

std::string_view name_of(Type type) {
  switch (type) {
    case Type::kString:
      return "string";
    case Type::kLimiter:
    case Type::kLimiterEntries:
    case Type::kLimiterCharges:
      return "limiter";
    case Type::kHash:
      return "hash";
    case Type::kList:
      return "list";
    case Type::kSet:
      return "set";
    case Type::kZset:
      return "zset";
    default:
      return "";
  }
}

bool is_varint(std::string_view payload) {
  storage::Reader reader(payload);
  reader.varint();
  return reader.ok() && reader.at_end();
}

void append_hex(char c, std::string* text) {
  const auto byte = static_cast<uint8_t>(c);
  *text += "\\x";
  *text += kHexDigits[byte >> 4];
  *text += kHexDigits[byte & 15];
}

void append_plain(char c, std::string* text) {
  if (!is_printable(c)) return append_hex(c, text);
  *text += c;
}

}  // namespace

std::string shown(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes.substr(0, kShownMax)) {
    c == '"' || c == '\\' ? append_hex(c, &text) : append_plain(c, &text);
  }
  return text + (bytes.size() > kShownMax ? "...\"" : "\"");
}

std::string plain(std::string_view line) {
  std::string text;
  for (const char c : line) append_plain(c, &text);
  return text;
}

Contents::Contents(const storage::HashSeed& seed, const algorithms::Zones* zones,
                   int64_t instant_ns)
    : seed_(seed), zones_(*zones), instant_ms_(instant_ns / kNsPerMs) {}

void Contents::note_damage(std::string what) {
  if (++damages_ <= kDamageLinesMax) damage_.push_back(std::move(what));
}

void Contents::take(std::string_view stored_key, std::string_view stored_value) {
  const auto key = storage::parse_stored_key(stored_key);
  if (!key) return note_damage("a record's key is too short: " + shown(stored_key));
  ++records_;
  storage::ValueView value;
  if (const auto status = storage::parse_value(stored_value, &value); !status.ok())
    return note_damage("record " + shown(key->key) + ": " + status.message());
  std::string_view wrong;
  std::string what = "key ";
  if (key->incarnation == storage::kSystemIncarnation) {
    what = "system record ";
    wrong = take_system(key->key, value);
  } else if (storage::holds_elements(key->incarnation)) {
    what = "element ";
    wrong = take_element(*key, value);
  } else {
    wrong = take_key(*key, value);
  }
  if (!wrong.empty()) note_damage(what + shown(key->key) + ": " + std::string(wrong));
}

// Each of these answers what is wrong, or nothing.
std::string_view Contents::take_system(std::string_view name, const storage::ValueView& value) {
  if (value.type != Type::kSystem) return "it is of another type than system records are";
  const auto begins = [name](std::string_view prefix) { return name.starts_with(prefix); };
  if (begins("db/")) return take_database(name.substr(3), value.payload);
  if (begins("script/")) return take_script(value.payload);
  if (name == "functions") return take_functions(value.payload);
  for (const NumberRecord& number : kNumbers) {
    if (name != number.name) continue;
    const bool good =
        number.bytes == 0 ? is_varint(value.payload) : value.payload.size() == number.bytes;
    return good ? "" : "it is no number as it must be";
  }
  if (begins("policy/")) {  // the trial opening reads it
    ++policies_;
    return {};
  }
  for (const std::string_view prefix :
       {"policy-count/", "policy-drop/", "policy-change/", "policies-of-file"})
    if (begins(prefix)) return {};
  return "this weir-server knows no such record";
}

std::string_view Contents::take_database(std::string_view name, std::string_view payload) {
  storage::Reader reader(payload);
  const uint64_t incarnation = reader.varint();
  reader.varint();
  int number = kHidden;
  const bool is_number =
      name == "hidden" ||
      std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc();
  if (!reader.ok() || !reader.at_end() || !is_number || incarnation == 0 ||
      incarnation >= storage::kElementsBit)
    return "it makes no sense as a database";
  const auto there = static_cast<storage::Incarnation>(incarnation);
  if (!numbers_.emplace(there, number).second) return "two databases have the same contents";
  databases_[number];
  return {};
}

std::string_view Contents::take_script(std::string_view payload) {
  storage::Reader reader(payload);
  const uint8_t format = reader.u8();
  reader.u8();
  const std::string_view name = reader.bytes(kSha1Bytes);
  if (!reader.ok() || format != kScriptFormat) return "it cannot be read as a script";
  const auto sum = script::sha1(reader.rest());
  if (!std::equal(sum.begin(), sum.end(), name.begin(),
                  [](uint8_t a, char b) { return a == static_cast<uint8_t>(b); }))
    return "the script's SHA-1 is another one";
  ++scripts_;
  return {};
}

std::string_view Contents::take_functions(std::string_view payload) {
  storage::Reader reader(payload);
  if (reader.u8() != kFunctionsFormat) return "it cannot be read as libraries of functions";
  while (reader.ok() && !reader.at_end()) {
    if (reader.sized_bytes(); reader.ok()) ++libraries_;
  }
  return reader.ok() ? "" : "a library of functions is cut short";
}

std::string_view Contents::take_key(const storage::KeyView& key, const storage::ValueView& value) {
  const auto known = numbers_.find(key.incarnation);
  if (known == numbers_.end()) {  // its database was dropped; the next pass erases it
    ++left_over_;
    return {};
  }
  if (key.position != storage::position_of(key.key, seed_)) return "it stands at a wrong place";
  const std::string_view type = name_of(value.type);
  if (type.empty()) return "it is of a type that this weir-server does not know";
  DatabaseContents& database = databases_[known->second];
  ++database.keys[std::string(type)];
  if (value.expire_at_ms != 0 && value.expire_at_ms < instant_ms_) ++database.expired;
  if (value.type == Type::kLimiter) return take_limiter(value.type, value.payload, 0);
  return storage::owns_elements(value.type) ? take_owner(key, value) : "";
}

std::string_view Contents::take_owner(const storage::KeyView& key,
                                      const storage::ValueView& value) {
  storage::OwnerView owner;
  if (!storage::parse_owner(value.payload, &owner)) return "its elements are not named";
  if (storage::is_limiter(value.type)) return take_limiter(value.type, owner.rest, owner.lists);
  if (owner.lists != 1) return "it has more lists of elements than its type has";
  const bool may_be_empty = value.expire_at_ms != 0 && value.expire_at_ms < instant_ms_;
  lists_.push_back(
      {.name = {key.incarnation | storage::kElementsBit, owner.ids[0]}, .is_met = may_be_empty});
  return {};
}

std::string_view Contents::take_limiter(Type type, std::string_view record, size_t lists) {
  std::array<algorithms::LimitState, algorithms::kLimitsMax> limits;
  const auto head = algorithms::read_record(record, limits, &zones_);
  if (!head) return algorithms::describe(head.error());
  if (head->changes.has_value() != (type == Type::kLimiterCharges))
    return "its record is not of its type: one of them counts its changes";
  size_t expected = (head->bookings ? 1u : 0u) + (head->holds ? 1u : 0u);
  for (size_t i = 0; i < head->limits; ++i) {
    const algorithms::Algorithm& algorithm = *limits[i].limit.algorithm;
    ++limits_[std::string(algorithm.name)];
    if (algorithm.uses_entries) ++expected;
  }
  return expected == lists ? "" : "its limits and its lists of entries do not belong together";
}

std::string_view Contents::take_element(const storage::KeyView& key,
                                        const storage::ValueView& value) {
  if (!are_sorted_) {
    std::sort(lists_.begin(), lists_.end(),
              [](const List& a, const List& b) { return a.name < b.name; });
    are_sorted_ = true;
  }
  if (!storage::is_element(value)) return "it is no element";
  const storage::ListName name{key.incarnation, storage::elements_id_at(key.position)};
  const auto place = storage::position_of_element(name.id, key.key, seed_);
  if (key.position != storage::stored_part(place)) return "it stands at a wrong place";
  ++elements_;
  if (name == last_list_) return {};
  last_list_ = name;
  const auto known = std::lower_bound(
      lists_.begin(), lists_.end(), name,
      [](const List& list, const storage::ListName& sought) { return list.name < sought; });
  if (known != lists_.end() && known->name == name) known->is_met = true;
  return {};
}

void Contents::end() {
  for (const List& list : lists_) {
    if (list.is_met) continue;
    const auto number = numbers_.find(list.name.incarnation & ~storage::kElementsBit);
    note_damage("database " + std::to_string(number == numbers_.end() ? kHidden : number->second) +
                ": a key's list of elements, " + std::to_string(list.name.id) + ", is gone");
  }
}

}  // namespace weir::server
