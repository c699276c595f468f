#include "storage/keyspace/turn_check.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "base/one_line.h"
#include "storage/format/codec.h"
#include "storage/format/header.h"
#include "storage/keyspace/turn_commit.h"

namespace weir::storage {
namespace {

constexpr std::string_view kHidden = "hidden";
constexpr size_t kShownKeyBytes = 100;

Status refused_turn(const std::string& what) { return Status::refused("a turn's record " + what); }

Status refused_turn(std::string_view what, std::string_view kind, std::string_view name,
                    std::string_view why = {}) {
  return refused_turn(std::string(what) + ": " + std::string(kind) + " \"" +
                      one_line(name, kShownKeyBytes) + "\"" + (why.empty() ? "" : ": ") +
                      std::string(why));
}

// The only number of a value; nothing if it is not one.
std::optional<uint64_t> number_of(std::string_view value) {
  Reader reader(value);
  const uint64_t number = reader.varint();
  return reader.ok() && reader.at_end() ? std::optional(number) : std::nullopt;
}

// The place of a database by the rest of its record's name; nothing if there is none.
std::optional<size_t> database_of(std::string_view name, size_t databases) {
  if (name == kHidden) return databases - 1;
  size_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, number);
  const bool is_plain = error == std::errc() && stop == end && std::to_string(number) == name;
  return is_plain && number + 1 < databases ? std::optional(number) : std::nullopt;
}

bool is_of_clients(Type type) {
  return type == Type::kString || type == Type::kLimiter ||
         (owns_elements(type) && type <= Type::kLimiterCharges);
}

bool has_twins(std::vector<Generation> names) {
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

}  // namespace

TurnCheck::TurnCheck(const WorkingSet& set, ElementsId elements_bound, Meaning* meaning,
                     ListNames* names)
    : meaning_(meaning),
      lists_(*names),
      next_generation_(set.next_generation()),
      next_elements_id_(elements_bound) {
  for (const Database& database : set.databases())
    names_.push_back(database.table == nullptr ? 0 : database.table->generation());
}

Status TurnCheck::look(std::string_view record) {
  names_before_ = names_;
  next_before_ = next_generation_;
  names_changed_ = is_past_system_ = false;
  looked_at_.clear();
  lists_.begin_turn(record);
  int64_t instant_ns = 0;
  const Status status = parse_turn_record(
      record, &instant_ns, [this](const TurnEntry& entry) { return look_at(entry); });
  if (!status.ok()) return Status::refused(status.message());
  if (instant_ns < 0 || instant_ns > kInstantNsMax)
    return refused_turn("is of an impossible instant");
  if (Status names = is_past_system_ ? Status() : look_at_names(); !names.ok()) return names;
  if (Status doubles = look_for_doubles(); !doubles.ok()) return doubles;
  return lists_.end_turn();
}

// An entry is the last form of what it names, so each name is there once.
Status TurnCheck::look_for_doubles() {
  if (looked_at_.size() < 2) return {};
  std::sort(looked_at_.begin(), looked_at_.end());
  const auto twin = std::adjacent_find(looked_at_.begin(), looked_at_.end());
  if (twin == looked_at_.end()) return {};
  return refused_turn("changes a record twice", "name", twin->key);
}

Status TurnCheck::look_at(const TurnEntry& entry) {
  if (!entry.dropped) looked_at_.push_back({entry.generation, entry.key});
  if (entry.generation == kSystemGeneration) return look_at_system(entry);
  if (!is_past_system_) {
    is_past_system_ = true;
    if (Status status = look_at_names(); !status.ok()) return status;
  }
  const Generation headers = entry.generation & ~kElementsBit;
  if (headers == kSystemGeneration || headers >= next_generation_)
    return refused_turn("names a database that was never made");
  return holds_elements(entry.generation) ? look_at_element(entry) : look_at_record(entry);
}

Status TurnCheck::look_at_system(const TurnEntry& entry) {
  if (is_past_system_) return refused_turn("has system records after others");
  const bool is_known = entry.key.starts_with(kDatabaseRecords) ||
                        entry.key == kNextGenerationRecord || entry.key == kNextElementsIdRecord;
  if (entry.dropped || (entry.erased && is_known))
    return refused_turn("erases what is never erased");
  if (entry.erased) return {};
  if (entry.value.type != Type::kSystem || entry.value.expire_at_ms != 0)
    return refused_turn("holds a system record that is none");
  if (!is_known) {
    if (meaning_ == nullptr) return {};
    const Fault fault = meaning_->of_system_record(entry.key, entry.value.payload);
    if (fault.what.empty() || fault.may_be_newer) return {};
    return refused_turn("holds what cannot be", "system record", entry.key, fault.what);
  }
  if (entry.key.starts_with(kDatabaseRecords)) return look_at_database(entry);
  const auto next = number_of(entry.value.payload);
  const bool is_of_lists = entry.key == kNextElementsIdRecord;
  if (!next || *next == 0 || *next > (is_of_lists ? kElementsIdMax + 1 : uint64_t{kElementsBit}))
    return refused_turn("holds a bound of numbers that is none");
  uint64_t& bound = is_of_lists ? next_elements_id_ : next_generation_;
  if (*next < bound) return refused_turn("lowers a bound of numbers");
  bound = *next;
  names_changed_ |= !is_of_lists;
  return {};
}

Status TurnCheck::look_at_database(const TurnEntry& entry) {
  const auto database = database_of(entry.key.substr(kDatabaseRecords.size()), names_.size());
  Reader reader(entry.value.payload);
  const uint64_t generation = reader.varint();
  reader.varint();  // how many keys it has
  if (!database || !reader.ok() || !reader.at_end())
    return refused_turn("holds a record of a database that is none");
  if (generation == kSystemGeneration || generation >= kElementsBit)
    return refused_turn("gives a database an impossible generation");
  names_[*database] = static_cast<Generation>(generation);
  names_changed_ = true;
  return {};
}

// Databases may change places, and get generations that nobody has had. All are made at once, and
// a keyspace without any knows of no number that was used.
Status TurnCheck::look_at_names() {
  if (!names_changed_) return {};
  const auto is_made = [](Generation name) { return name != 0; };
  const bool had_any = std::any_of(names_before_.begin(), names_before_.end(), is_made);
  if (!std::any_of(names_.begin(), names_.end(), is_made)) return refused_turn("makes no database");
  for (const Generation name : names_) {
    if (!is_made(name)) return refused_turn("does not make all databases");
    const bool is_kept =
        std::find(names_before_.begin(), names_before_.end(), name) != names_before_.end();
    if (name >= next_generation_ || (had_any && !is_kept && name < next_before_))
      return refused_turn("gives a database a generation that was used, or was not drawn yet");
  }
  if (has_twins(names_)) return refused_turn("gives two databases the same contents");
  return {};
}

Status TurnCheck::look_at_record(const TurnEntry& entry) {
  if (entry.dropped) return refused_turn("drops a list without naming it");
  if (entry.erased) {
    lists_.add_record(entry);
    return {};
  }
  if (!is_of_clients(entry.value.type)) return refused_turn("holds a value of an unknown type");
  if (entry.value.expire_at_ms < 0)
    return refused_turn("holds a value that expires before time began");
  HeaderView header;
  if (owns_elements(entry.value.type)) {
    if (!parse_header(entry.value.payload, &header))
      return refused_turn("holds a header record that does not name them");
    if (Status status = look_at_header(header); !status.ok()) return status;
  }
  RecordMeaning meaning;
  if (meaning_ != nullptr) meaning = meaning_->of_record(entry.value);
  if (!meaning.fault.what.empty() && !meaning.fault.may_be_newer)
    return refused_turn("holds what cannot be", "key", entry.key, meaning.fault.what);
  header.lists == 0 ? lists_.add_record(entry) : lists_.add_header(entry, header, meaning);
  return {};
}

Status TurnCheck::look_at_header(const HeaderView& header) const {
  std::vector<ElementsId> ids(header.all().begin(), header.all().end());
  std::sort(ids.begin(), ids.end());
  if (std::adjacent_find(ids.begin(), ids.end()) != ids.end())
    return refused_turn("holds a header that names a list twice");
  if (ids.back() >= next_elements_id_) return refused_turn("names a list that was never made");
  return {};
}

Status TurnCheck::look_at_element(const TurnEntry& entry) {
  Reader reader(entry.key);
  const ElementsId id = reader.varint();
  if (!reader.ok() || id == 0 || (entry.dropped && !reader.at_end()))
    return refused_turn("holds an element of no list");
  if (id >= next_elements_id_) return refused_turn("names a list that was never made");
  if (entry.dropped) lists_.add_drop({entry.generation, id});
  if (entry.dropped || entry.erased) return {};
  if (!is_element(entry.value) || entry.value.expire_at_ms != 0)
    return refused_turn("holds an element that is none");
  lists_.add_element(entry, id, reader.rest());
  return {};
}

}  // namespace weir::storage
