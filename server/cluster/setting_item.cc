#include "server/cluster/setting_item.h"

#include <utility>

#include "storage/format/codec.h"
#include "storage/format/key_order.h"
#include "storage/replication/plain.h"

namespace weir::server {
namespace {

using resp::Value;

constexpr size_t kItemFields = 7;
// Not a secret: who may send items may send any.
constexpr storage::HashSeed kItemSeed = {0x7765697273657474, 0x696e67732e697465};

std::string hashed_head(const SettingItem& item) {
  std::string bytes(1, static_cast<char>(item.kind));
  storage::put_varint(&bytes, item.name.size());
  bytes += item.name;
  return bytes;
}

const std::string* text_of(const Value& value, size_t bytes_max) {
  const bool is_text = value.type == Value::Type::kBulk && value.text.size() <= bytes_max;
  return is_text ? &value.text : nullptr;
}

std::optional<uint64_t> number_of_value(const Value& value, uint64_t max) {
  const bool is_number = value.type == Value::Type::kInteger && value.integer >= 0 &&
                         static_cast<uint64_t>(value.integer) <= max;
  return is_number ? std::optional(static_cast<uint64_t>(value.integer)) : std::nullopt;
}

Result<SettingItem, std::string> read_item(const Value& value) {
  const std::string wrong = "an item is none";
  if (value.type != Value::Type::kArray || value.elements.size() != kItemFields) return wrong;
  const std::vector<Value>& fields = value.elements;
  const auto kind = number_of_value(fields[0], kSettingKindMax);
  const std::string* const name = text_of(fields[1], kSettingNameBytesMax);
  const auto version = number_of_value(fields[2], kSettingVersionMax);
  const auto made = number_of_value(fields[3], kSettingVersionMax);
  const auto is_deleted = number_of_value(fields[4], 1);
  const std::string* const seed = text_of(fields[5], sizeof(uint64_t));
  const std::string* const content = text_of(fields[6], kSettingBytesMax);
  const bool is_sound = kind && *kind > 0 && name != nullptr && version && *version > 0 && made &&
                        is_deleted && seed != nullptr && seed->size() == sizeof(uint64_t) &&
                        content != nullptr && (*is_deleted == 0 || content->empty());
  if (!is_sound) return wrong;
  SettingItem item{.kind = static_cast<SettingKind>(*kind),
                   .name = *name,
                   .version = *version,
                   .made = *made,
                   .is_deleted = *is_deleted == 1,
                   .seed = storage::load_u64_be(seed->data()),
                   .content = *content};
  const bool is_epoch = item.kind == SettingKind::kFileEpoch;
  const bool is_made =
      is_epoch || item.kind == SettingKind::kPolicy || item.kind == SettingKind::kOverride;
  if ((item.made != 0) != is_made) return wrong;
  if (is_epoch && (!item.name.empty() || !item.content.empty() || item.is_deleted)) return wrong;
  if (is_epoch && item.version > kFileEpochMax) return wrong;
  if (item.kind == SettingKind::kOverride && !parse_override_setting_name(item.name)) return wrong;
  return item;
}

}  // namespace

uint64_t file_digest_of(std::string_view text) {
  return (storage::siphash24(text, kItemSeed) & (kSettingVersionMax - 1)) | 1;
}

uint64_t hash_of(const SettingItem& item) {
  std::string bytes = hashed_head(item);
  bytes.push_back(item.is_deleted ? 1 : 0);
  storage::put_varint(&bytes, item.made);
  storage::put_u64_le(&bytes, item.seed);
  return storage::siphash24(bytes + item.content, kItemSeed);
}

uint64_t digest_part_of(const SettingItem& item) {
  std::string bytes = hashed_head(item);
  storage::put_varint(&bytes, item.version);
  storage::put_u64_le(&bytes, hash_of(item));
  return storage::siphash24(bytes, kItemSeed);
}

std::string override_setting_name(const OverrideSettingName& name) {
  std::string text;
  storage::put_varint(&text, name.policy.size());
  text += name.policy;
  text.push_back(name.is_prefix ? 1 : 0);
  return text.append(name.name);
}

std::optional<OverrideSettingName> parse_override_setting_name(std::string_view text) {
  storage::Reader reader(text);
  OverrideSettingName name;
  name.policy = reader.sized_bytes();
  const uint8_t scope = reader.u8();
  name.is_prefix = scope == 1;
  name.name = reader.rest();
  // Nobody writes one name in two ways.
  const bool is_sound = reader.ok() && scope <= 1 && !name.policy.empty() && !name.name.empty() &&
                        override_setting_name(name) == text;
  return is_sound ? std::optional(name) : std::nullopt;
}

void write_settings_page(const SettingsPage& page, resp::ReplyWriter* out) {
  out->array(3);
  out->integer(static_cast<int64_t>(page.up_to));
  out->integer(page.has_more ? 1 : 0);
  out->array(static_cast<int64_t>(page.items.size()));
  for (const SettingItem& item : page.items) {
    out->array(int64_t{kItemFields});
    out->integer(static_cast<int64_t>(item.kind));
    out->bulk(item.name);
    out->integer(static_cast<int64_t>(item.version));
    out->integer(static_cast<int64_t>(item.made));
    out->integer(item.is_deleted ? 1 : 0);
    std::string seed;
    storage::put_u64_be(&seed, item.seed);
    out->bulk(seed);
    out->bulk(item.content);
  }
}

Result<SettingsPage, std::string> read_settings_page(const Value& value, uint64_t after) {
  const std::string wrong = "a page of settings was expected";
  if (value.type != Value::Type::kArray || value.elements.size() != 3) return wrong;
  const auto up_to = number_of_value(value.elements[0], storage::replication::kPlainNumberMax);
  const auto has_more = number_of_value(value.elements[1], 1);
  const Value& list = value.elements[2];
  if (!up_to || !has_more || list.type != Value::Type::kArray) return wrong;
  // An override comes with its policy, so there may be twice as many.
  if (list.elements.size() > 2 * kSettingsOfPageMax)
    return std::string("the page has too many items");
  // One that goes back begins anew: the shard has lost changes that it had told of.
  if (*has_more == 1 && *up_to == after) return std::string("the page goes nowhere");
  SettingsPage page{.up_to = *up_to, .has_more = *has_more == 1, .items = {}};
  size_t libraries = 0;
  for (const Value& element : list.elements) {
    auto item = read_item(element);
    if (!item) return item.error();
    if (item->kind == SettingKind::kLibrary && ++libraries > kLibrariesOfPageMax)
      return std::string("the page has too many libraries");
    page.items.push_back(std::move(*item));
  }
  return page;
}

}  // namespace weir::server
