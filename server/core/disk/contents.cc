#include "server/core/disk/contents.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/time_units.h"
#include "storage/format/codec.h"
#include "storage/format/header.h"

namespace weir::server {
namespace {

using storage::Type;

constexpr size_t kDamageLinesMax = 100;
constexpr size_t kShownMax = 100;
constexpr int kHidden = -1;
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

Contents::Contents(const storage::HashSeed& seed, int64_t instant_ns)
    : seed_(seed), instant_ms_(instant_ns / kNsPerMs) {}

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
  if (key->generation == storage::kSystemGeneration) {
    what = "system record ";
    wrong = take_system(key->key, value);
  } else if (storage::holds_elements(key->generation)) {
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
  const SystemRecord kind = system_record(name);
  if (kind == SystemRecord::kDatabase) return take_database(name.substr(3), value.payload);
  const storage::Fault fault = fault_of_system_record(name, value.payload);
  if (!fault.what.empty()) return fault.what;
  if (kind == SystemRecord::kScript) ++scripts_;
  if (kind == SystemRecord::kFunctions) libraries_ += libraries_of(value.payload);
  if (kind == SystemRecord::kPolicy) ++policies_;  // the trial opening reads it
  if (name == "next-elements-id") next_elements_id_ = storage::Reader(value.payload).varint();
  if (name == "next-incarnation") next_generation_ = storage::Reader(value.payload).varint();
  return {};
}

std::string_view Contents::take_database(std::string_view name, std::string_view payload) {
  storage::Reader reader(payload);
  const uint64_t generation = reader.varint();
  reader.varint();
  int number = kHidden;
  const bool is_number =
      name == "hidden" ||
      std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc();
  if (!reader.ok() || !reader.at_end() || !is_number || generation == 0 ||
      generation >= storage::kElementsBit)
    return "it makes no sense as a database";
  const auto there = static_cast<storage::Generation>(generation);
  if (!numbers_.emplace(there, number).second) return "two databases have the same contents";
  databases_[number];
  return {};
}

std::string_view Contents::take_key(const storage::KeyView& key, const storage::ValueView& value) {
  const auto known = numbers_.find(key.generation);
  if (known == numbers_.end()) {  // its database was dropped; the next write-back erases it
    ++left_over_;
    return {};
  }
  if (key.key_order != storage::key_order_of(key.key, seed_)) return "it stands at a wrong place";
  const std::string_view type = name_of(value.type);
  if (type.empty()) return "it is of a type that this weir-server does not know";
  DatabaseContents& database = databases_[known->second];
  ++database.keys[std::string(type)];
  if (value.expire_at_ms != 0 && value.expire_at_ms < instant_ms_) ++database.expired;
  const storage::RecordMeaning meaning = meaning_.of_record(value);
  if (!meaning.fault.what.empty()) return meaning.fault.what;
  if (storage::is_limiter(value.type)) {
    for (const algorithms::LimitState& each : meaning_.limits())
      ++limits_[std::string(each.limit.algorithm->name)];
  }
  return storage::owns_elements(value.type) ? take_header(key, value, meaning) : "";
}

std::string_view Contents::take_header(const storage::KeyView& key, const storage::ValueView& value,
                                       const storage::RecordMeaning& meaning) {
  storage::HeaderView header;
  if (!storage::parse_header(value.payload, &header)) return "its elements are not named";
  const bool is_expired = value.expire_at_ms != 0 && value.expire_at_ms < instant_ms_;
  for (size_t i = 0; i < header.lists; ++i) {
    if (header.ids[i] >= next_elements_id_) return "it names a list that was never made";
    lists_.push_back({.name = {key.generation | storage::kElementsBit, header.ids[i]},
                      .rule = meaning.rules[i],
                      .is_met = meaning.may_be_empty || is_expired});
  }
  return {};
}

void Contents::sort_lists() {
  if (are_sorted_) return;
  are_sorted_ = true;
  std::sort(lists_.begin(), lists_.end(),
            [](const List& a, const List& b) { return a.name < b.name; });
  for (size_t i = 1; i < lists_.size(); ++i) {
    if (lists_[i].name != lists_[i - 1].name) continue;
    note_damage("two keys have the list of elements " + std::to_string(lists_[i].name.id));
    lists_[i].is_met = true;  // whether it is empty is asked of the first
  }
}

std::string_view Contents::take_element(const storage::KeyView& key,
                                        const storage::ValueView& value) {
  sort_lists();
  if (!storage::is_element(value)) return "it is no element";
  const storage::ListName name{key.generation, storage::elements_id_at(key.key_order)};
  const auto place = storage::key_order_of_element(name.id, key.key, seed_);
  if (key.key_order != storage::stored_part(place)) return "it stands at a wrong place";
  if (name.id >= next_elements_id_) return "it is of a list that was never made";
  ++elements_;
  if (last_list_ == nullptr || last_list_->name != name) {
    const auto known = std::lower_bound(
        lists_.begin(), lists_.end(), name,
        [](const List& list, const storage::ListName& sought) { return list.name < sought; });
    // One that nobody names is that of a header which has gone.
    if (known == lists_.end() || known->name != name) return {};
    last_list_ = &*known;
    last_list_->is_met = true;
  }
  const std::string_view payload = value.payload;
  const bool fits = last_list_->rule == nullptr ||
                    last_list_->rule->allows(key.key, storage::load_u64_be(payload.data()),
                                             payload.substr(storage::kOrderBytes));
  return fits ? "" : "its header cannot have such an element";
}

void Contents::end() {
  sort_lists();
  for (const auto& [generation, number] : numbers_) {
    if (generation < next_generation_) continue;
    note_damage("database " + std::to_string(number) + " has a generation that was never drawn");
  }
  for (const List& list : lists_) {
    if (list.is_met) continue;
    const auto number = numbers_.find(list.name.generation & ~storage::kElementsBit);
    note_damage("database " + std::to_string(number == numbers_.end() ? kHidden : number->second) +
                ": a key's list of elements, " + std::to_string(list.name.id) + ", is gone");
  }
}

}  // namespace weir::server
