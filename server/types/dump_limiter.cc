#include "server/types/dump_limiter.h"

#include <deque>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/string_hash.h"
#include "server/limiter/entries/stored_entries.h"
#include "server/limiter/later/read_limiter.h"
#include "server/limiter/take/limiters.h"
#include "server/rdb/integers.h"
#include "server/rdb/reader.h"
#include "server/rdb/writer.h"
#include "storage/memtable/elements.h"

namespace weir::server {
namespace {

using storage::Element;
using storage::Elements;
using storage::Type;

constexpr uint8_t kLimiterType = 119;
constexpr uint8_t kVersion = 1;
constexpr size_t kOrderBytes = 8;

struct Contents {
  std::string_view record;
  bool counts_changes = false;
  std::vector<std::vector<Element>> lists;
};

void append_list(const Elements& list, std::string* body) {
  rdb::put_size(body, list.size());
  list.walk(0, [body](const Element& element) {
    rdb::put_little_endian(body, element.order, kOrderBytes);
    rdb::put_bytes(body, element.member);
    rdb::put_bytes(body, element.value);
    return true;
  });
}

bool read_list(rdb::Reader* reader, const storage::ElementRule& rule, std::vector<Element>* list) {
  ViewSet members;
  for (uint64_t left = reader->size(); left > 0; --left) {
    Element element;
    element.order = rdb::load_unsigned(reader->bytes(kOrderBytes));
    element.member = reader->text();
    element.value = reader->text();
    if (!reader->ok() || !rule.allows(element.member, element.order, element.value)) return false;
    if (!members.insert(element.member).second) return false;
    list->push_back(element);
  }
  return reader->ok();
}

std::optional<Contents> contents_of(rdb::Reader* reader, const algorithms::Zones& zones) {
  Contents contents;
  contents.record = reader->text();
  ReadLimiter limiter;
  if (!read_limiter(contents.record, zones, &limiter).what.empty()) return std::nullopt;
  if (reader->size() != limiter.lists || !reader->ok()) return std::nullopt;
  contents.counts_changes = limiter.head.changes.has_value();
  for (size_t i = 0; i < limiter.lists; ++i) {
    if (!read_list(reader, *limiter.rules[i], &contents.lists.emplace_back())) return std::nullopt;
  }
  return reader->at_end() ? std::optional(contents) : std::nullopt;
}

storage::ElementsId put_list(Call& call, const std::vector<Element>& elements) {
  const storage::ElementsId id = StoredEntries(call, 0).id();
  auto list = call.keys.lists().open(call.database, id);
  for (const Element& element : elements) {
    list->put(element.member, element.order, element.value);
  }
  return id;
}

}  // namespace

bool is_limiter_body(std::string_view body) {
  return !body.empty() && static_cast<uint8_t>(body[0]) == kLimiterType;
}

Result<void, ErrorReplied> append_limiter(Call& call, const storage::Ref& ref, std::string* body) {
  storage::HeaderView header;
  header.rest = ref.value();
  if (storage::owns_elements(ref.type()) && !storage::parse_header(ref.value(), &header)) {
    return reply_error(call, "ERR the limiter's record cannot be read: its lists make no sense");
  }
  body->push_back(static_cast<char>(kLimiterType));
  body->push_back(static_cast<char>(kVersion));
  rdb::put_bytes(body, header.rest);
  rdb::put_size(body, header.lists);
  for (const storage::ElementsId id : header.all()) {
    const auto list = call.keys.lists().open(ref.database(), id);
    if (!list) return reading_failed();
    append_list(*list, body);
  }
  return {};
}

bool restore_limiter(Call& call, std::string_view body, std::string_view key,
                     int64_t expire_at_ms) {
  std::deque<std::string> owned;
  rdb::Reader reader(body.substr(1), &owned);
  if (reader.byte() != kVersion) return false;
  const auto contents = contents_of(&reader, call.limiters.zones.given());
  if (!contents) return false;
  std::vector<storage::ElementsId> ids;
  for (const auto& list : contents->lists) ids.push_back(put_list(call, list));
  std::string value;
  if (!ids.empty()) storage::append_list_ids(&value, ids);
  value.append(contents->record);
  storage::Ref ref = call.look_up(key);
  call.keys.put(&ref, type_of_limiter(!ids.empty(), contents->counts_changes), value, expire_at_ms);
  return true;
}

}  // namespace weir::server
