#include "server/script/run/script_index.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/ascii.h"

namespace weir::server::script {
namespace {

constexpr char kScriptFormat = 1;
constexpr size_t kNameBytes = 20;
constexpr size_t kHeadBytes = 2 + kNameBytes;
constexpr std::string_view kCountKey = "scripts";

constexpr std::string_view kPrefix = "script/";
constexpr size_t kFreeMax = 1 << 16;

std::string record_key(uint32_t number) { return std::string(kPrefix) + std::to_string(number); }

std::string packed_name(std::string_view name) {
  std::string packed;
  for (size_t i = 0; i + 1 < name.size(); i += 2)
    packed.push_back(static_cast<char>(hex_value(name[i]) << 4 | hex_value(name[i + 1])));
  return packed;
}

std::string unpacked_name(std::string_view packed) {
  return hex_text({reinterpret_cast<const uint8_t*>(packed.data()), packed.size()});
}

}  // namespace

std::vector<int> ScriptIndex::reload() {
  StringMap<Script> before;
  before.swap(scripts_);
  recent_ = nullptr;
  uses_.clear();
  free_.clear();
  bytes_ = evictable_bytes_ = 0;
  numbers_ = 0;
  const storage::Ref count = keys_->look_up_system(kCountKey);
  if (count.exists() && count.value().size() == sizeof numbers_)
    std::memcpy(&numbers_, count.value().data(), sizeof numbers_);
  uint32_t next = 0;
  for (const uint32_t number : used_numbers()) {
    note_free(next, number);
    next = number + 1;
    const storage::Ref record = keys_->look_up_system(record_key(number));
    const std::string_view value = record.value();
    if (value.size() < kHeadBytes || value[0] != kScriptFormat) continue;
    Script script;
    script.name = unpacked_name(value.substr(2, kNameBytes));
    if (scripts_.contains(script.name)) continue;
    if (const auto old = before.find(script.name); old != before.end()) {
      script = std::move(old->second);
      before.erase(old);
    }
    script.number = number;
    script.bytes = value.size() - kHeadBytes;
    script.kept = value[1] != 0;
    insert(std::move(script));
  }
  note_free(next, numbers_);
  std::vector<int> references;
  for (const auto& [name, script] : before) references.push_back(script.reference);
  return references;
}

// In their order.
std::vector<uint32_t> ScriptIndex::used_numbers() const {
  std::vector<uint32_t> numbers;
  keys_->visit_system(kPrefix, [&](std::string_view key, std::string_view) {
    const std::string_view digits = key.substr(kPrefix.size());
    uint32_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (number < numbers_ && record_key(number) == key) numbers.push_back(number);
  });
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// How many there are is what a record says, and it is not always the own one.
void ScriptIndex::note_free(uint32_t from, uint32_t to) {
  for (uint32_t number = from; number < to && free_.size() < kFreeMax; ++number)
    free_.push_back(number);
}

void ScriptIndex::insert(Script script) {
  bytes_ += script.bytes;
  std::string name = script.name;
  Script* placed = &scripts_.insert_or_assign(std::move(name), std::move(script)).first->second;
  if (placed->kept) return;
  evictable_bytes_ += placed->bytes;
  uses_.push_front(placed);
  placed->use = uses_.begin();
}

// Most requests are for the same script as the one before.
Script* ScriptIndex::find(std::string_view name) {
  if (recent_ == nullptr || recent_->name != name) {
    const auto found = scripts_.find(name);
    if (found == scripts_.end()) return nullptr;
    recent_ = &found->second;
  }
  if (!recent_->kept && recent_->use != uses_.begin())
    uses_.splice(uses_.begin(), uses_, recent_->use);
  return recent_;
}

std::string_view ScriptIndex::body(const Script& script) const {
  const std::string_view value = keys_->look_up_system(record_key(script.number)).value();
  return value.size() < kHeadBytes ? std::string_view() : value.substr(kHeadBytes);
}

void ScriptIndex::put_record(const Script& script, std::string_view body) {
  std::string value = {kScriptFormat, static_cast<char>(script.kept ? 1 : 0)};
  value.append(packed_name(script.name)).append(body);
  const std::string key = record_key(script.number);
  storage::Ref record = keys_->look_up_system(key);
  keys_->put(&record, storage::Type::kSystem, value, 0);
}

void ScriptIndex::put_count() {
  storage::Ref record = keys_->look_up_system(kCountKey);
  const std::string_view value(reinterpret_cast<const char*>(&numbers_), sizeof numbers_);
  if (record.exists() && record.value() == value) return;
  keys_->put(&record, storage::Type::kSystem, value, 0);
}

// Answers a number that has no record, whatever this index believes.
uint32_t ScriptIndex::free_number() {
  while (true) {
    uint32_t number = numbers_;
    if (free_.empty()) {
      ++numbers_;
    } else {
      number = free_.back();
      free_.pop_back();
    }
    if (!keys_->look_up_system(record_key(number)).exists()) return number;
  }
}

std::vector<int> ScriptIndex::add(Script script, std::string_view body, const IndexBounds& bounds) {
  std::vector<int> references;
  script.number = free_number();
  put_count();
  script.bytes = body.size();
  put_record(script, body);
  insert(std::move(script));
  while (uses_.size() > 1 &&
         (uses_.size() > bounds.entries_max || evictable_bytes_ > bounds.bytes_max)) {
    ++evicted_;
    erase(uses_.back(), &references);
  }
  return references;
}

void ScriptIndex::keep(Script* script) {
  if (script->kept) return;
  const std::string text(body(*script));
  uses_.erase(script->use);
  evictable_bytes_ -= script->bytes;
  script->kept = true;
  put_record(*script, text);
}

void ScriptIndex::erase(Script* script, std::vector<int>* references) {
  const std::string key = record_key(script->number);
  storage::Ref record = keys_->look_up_system(key);
  keys_->erase(&record);
  if (script->reference >= 0) references->push_back(script->reference);
  bytes_ -= script->bytes;
  free_.push_back(script->number);
  if (!script->kept) {
    evictable_bytes_ -= script->bytes;
    uses_.erase(script->use);
  }
  if (recent_ == script) recent_ = nullptr;
  scripts_.erase(scripts_.find(script->name));
}

std::vector<int> ScriptIndex::remove(Script* script) {
  std::vector<int> references;
  erase(script, &references);
  return references;
}

std::vector<std::string> ScriptIndex::kept_names() const {
  std::vector<std::string> names;
  for (const auto& [name, script] : scripts_)
    if (script.kept) names.push_back(name);
  return names;
}

std::vector<int> ScriptIndex::clear() {
  std::vector<int> references;
  while (!scripts_.empty()) erase(&scripts_.begin()->second, &references);
  free_.clear();
  numbers_ = 0;
  storage::Ref count = keys_->look_up_system(kCountKey);
  keys_->erase(&count);
  return references;
}

}  // namespace weir::server::script
