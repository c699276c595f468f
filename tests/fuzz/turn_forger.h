// Makes turns that no keyspace has made, of the records that one has: right ones with something
// changed, and others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time_units.h"
#include "storage/format/codec.h"
#include "storage/format/element_key.h"
#include "storage/format/header.h"
#include "storage/format/record.h"
#include "tests/fuzz/fuzz_input.h"

namespace weir::fuzz {

using storage::ElementsId;
using storage::Generation;
using storage::Type;

inline constexpr uint64_t kNumbers[] = {0, 1, 2, 3, 5, 8, 20, 128, 4000, 4097, 1 << 20, UINT64_MAX};
inline constexpr Type kTypes[] = {Type::kHash,           Type::kList,          Type::kSet,
                                  Type::kZset,           Type::kString,        Type::kLimiter,
                                  Type::kLimiterEntries, Type::kLimiterCharges};

inline std::string varint(uint64_t number) {
  std::string bytes;
  storage::put_varint(&bytes, number);
  return bytes;
}

struct Change {
  Generation generation = 0;
  std::string key = {};
  Type type = Type::kNone;  // none: it is erased
  int64_t expire_at_ms = 0;
  std::string payload = {};
  bool dropped = false;
};

class TurnForger {
 public:
  explicit TurnForger(Input* input) : input_(*input) {}

  // The newest form of all records.
  void learn(const std::vector<std::string>& turns) {
    for (const std::string& record : turns) {
      int64_t instant_ns = 0;
      check(
          storage::parse_turn_record(record, &instant_ns, [this](const storage::TurnEntry& entry) {
            if (entry.dropped) return storage::Status();
            Change change{.generation = entry.generation, .key = std::string(entry.key)};
            if (!entry.erased) {
              change.type = entry.value.type;
              change.expire_at_ms = entry.value.expire_at_ms;
              change.payload = entry.value.payload;
            }
            records_[{entry.generation, change.key}] = std::move(change);
            return storage::Status();
          }).ok());
    }
    all_.clear();
    for (const auto& [name, change] : records_) {
      if (change.type != Type::kNone) all_.push_back(&change);
    }
  }

  const std::vector<std::string>& keys() const { return keys_; }
  // Names of keys that the turn changes are in keys() then.
  std::string turn(int64_t instant_ns) {
    std::vector<Change> changes;
    for (int count = input_.byte() % 6; count >= 0; --count) changes.push_back(any_change());
    std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
      return (a.generation == 0) > (b.generation == 0);
    });
    storage::TurnRecordWriter writer;
    writer.begin(now_ns_ = instant_ns);
    keys_.clear();
    for (const Change& change : changes) {
      if (change.dropped) {
        storage::Reader id(change.key);
        writer.drop(change.generation, id.varint());
      } else if (change.type == Type::kNone) {
        writer.erase(change.generation, change.key);
      } else {
        writer.put(change.generation, change.key,
                   {change.type, change.expire_at_ms, change.payload});
      }
      const bool is_key = change.generation != 0 && !storage::holds_elements(change.generation);
      if (is_key && std::find(keys_.begin(), keys_.end(), change.key) == keys_.end())
        keys_.push_back(change.key);
    }
    return std::string(writer.bytes());
  }

 private:
  ElementsId any_id() {
    const Change& other = *input_.choose(all_);
    storage::HeaderView header;
    if (storage::owns_elements(other.type) && storage::parse_header(other.payload, &header))
      return header.ids[0];
    const uint64_t number = input_.choose(kNumbers);
    return number + input_.byte() % 3;
  }
  std::vector<ElementsId> any_ids() {
    std::vector<ElementsId> ids(input_.byte() % 8 == 0 ? input_.byte() % 19 : 1);
    for (ElementsId& id : ids) id = any_id();
    return ids;
  }
  static std::string header_of(const std::vector<ElementsId>& ids, std::string_view rest) {
    std::string payload = varint(ids.size());
    for (const ElementsId id : ids) payload += varint(id);
    return payload.append(rest);
  }
  std::string rest_of(const Change& change) {
    storage::HeaderView header;
    const bool is_header =
        storage::owns_elements(change.type) && storage::parse_header(change.payload, &header);
    return is_header ? std::string(header.rest) : change.payload;
  }
  void bend(std::string* bytes) {
    for (int changes = input_.byte() % 3; changes >= 0; --changes) {
      const size_t at = bytes->empty() ? 0 : input_.byte() % bytes->size();
      const uint8_t how = input_.byte();
      if (how % 4 == 0 && !bytes->empty()) (*bytes)[at] = static_cast<char>(input_.byte());
      if (how % 4 == 1) bytes->insert(at, input_.take(how / 4 % 9));
      if (how % 4 == 2) bytes->erase(at, how / 4 % 9);
      if (how % 4 == 3) bytes->replace(at, 8, std::string(8, how & 4 ? '\xff' : '\x7f'));
    }
  }

  // One entry of a hostile turn.
  Change any_change() {
    const uint8_t how = input_.byte();
    Change change = *input_.choose(all_);
    switch (how % 10) {
      case 0:
        bend(&change.payload);
        break;
      case 1:
        change.type = input_.choose(kTypes);
        break;
      case 2:
        change.key += "2";
        break;
      case 3: {  // another list, or none, or others'
        const std::string rest = rest_of(change);
        change.payload = header_of(any_ids(), rest);
        if (!storage::owns_elements(change.type)) change.type = input_.choose(kTypes);
        break;
      }
      case 4:
        change.type = Type::kNone;
        break;
      case 5:
        change = {
            .generation = 1 | storage::kElementsBit, .key = varint(any_id()), .dropped = true};
        break;
      case 6:
        change = {.generation = 1 | storage::kElementsBit,
                  .key = varint(any_id()).append(input_.take(how / 10)),
                  .type = Type::kElement,
                  .payload = std::string(input_.take(8 + how % 7))};
        change.payload.resize(std::max<size_t>(change.payload.size(), 8));
        break;
      case 7:
        change.expire_at_ms = now_ns_ / kNsPerMs + input_.byte() - 128;
        break;
      case 8: {  // a key without elements
        const auto ids = any_ids();
        change = {.generation = 1,
                  .key = "k",
                  .type = input_.choose(kTypes),
                  .payload = header_of(ids, std::string_view("\0", how & 16 ? 1 : 0))};
        break;
      }
      default:
        break;  // as it was
    }
    return change;
  }

  Input& input_;
  int64_t now_ns_ = 1'700'000'000 * kNsPerS;
  std::map<std::pair<Generation, std::string>, Change> records_;
  std::vector<const Change*> all_;  // that are there
  std::vector<std::string> keys_;   // that the last turn named
};

}  // namespace weir::fuzz
