#include "server/types/dump.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <vector>

#include "resp/numbers.h"
#include "server/types/collection.h"
#include "server/types/list.h"
#include "storage/codec.h"
#include "storage/crc32c.h"

namespace weir::server {
namespace {

using storage::Element;
using storage::Type;

constexpr std::string_view kMagic = "weir\x01";
constexpr size_t kChecksumBytes = 8;

// What a list of the type could not hold must not come in through a dump.
bool fits(Type type, const Element& element) {
  switch (type) {
    case Type::kZset:
      return !std::isnan(storage::double_of_order(element.order)) && element.value.empty();
    case Type::kSet: {
      const auto number = resp::parse_int64(element.member);
      const uint64_t order = number ? storage::order_of_integer(*number) : UINT64_MAX;
      return element.order == order && element.value.empty();
    }
    case Type::kList:
      return element.member.size() == kListMemberBytes;
    default:
      return element.order < UINT64_MAX;  // a field must find room behind it
  }
}

void append_collection(std::string* out, const Collection& collection) {
  storage::put_u8(out, static_cast<uint8_t>(collection.form()));
  storage::put_varint(out, collection.size());
  collection.walk([out](const Element& element) {
    storage::put_u64_be(out, element.order);
    storage::put_varint(out, element.value.size());
    out->append(element.value);
    storage::put_varint(out, element.member.size());
    out->append(element.member);
    return true;
  });
}

struct Contents {
  Form form = Form::kCompact;
  std::vector<Element> elements;
};

bool has_twins(const std::vector<Element>& elements) {
  std::unordered_set<std::string_view> members;
  return std::any_of(elements.begin(), elements.end(), [&members](const Element& element) {
    return !members.insert(element.member).second;
  });
}

std::optional<Contents> contents_of(std::string_view bytes, Type type) {
  storage::Reader reader(bytes);
  const uint8_t form = reader.u8();
  if (form > static_cast<uint8_t>(Form::kLarge)) return std::nullopt;
  Contents contents{.form = static_cast<Form>(form), .elements = {}};
  for (uint64_t left = reader.varint(); left > 0; --left) {
    Element element;
    element.order = __builtin_bswap64(reader.u64_le());
    element.value = reader.sized_bytes();
    element.member = reader.sized_bytes();
    if (!reader.ok() || !fits(type, element)) return std::nullopt;
    const bool has_equal = !contents.elements.empty() && type == Type::kList &&
                           contents.elements.back().order >= element.order;
    if (has_equal) return std::nullopt;
    contents.elements.push_back(element);
  }
  const bool whole = reader.ok() && reader.at_end() && !contents.elements.empty();
  if (!whole || has_twins(contents.elements)) return std::nullopt;
  return contents;
}

}  // namespace

bool can_dump(Type type) {
  return type == Type::kString || type == Type::kHash || type == Type::kList ||
         type == Type::kSet || type == Type::kZset;
}

std::optional<std::string> dump(Call& call, const storage::Ref& ref) {
  std::string bytes(kMagic);
  storage::put_u8(&bytes, static_cast<uint8_t>(ref.type()));
  if (ref.type() == Type::kString) {
    bytes.append(ref.value());
  } else {
    const auto collection = collection_of(call, ref, ref.type());
    if (!collection) return std::nullopt;
    append_collection(&bytes, *collection);
  }
  storage::put_u64_le(&bytes, storage::crc32c(bytes));
  return bytes;
}

bool is_dump(std::string_view bytes) {
  if (bytes.size() < kMagic.size() + 1 + kChecksumBytes || !bytes.starts_with(kMagic)) return false;
  const std::string_view checked = bytes.substr(0, bytes.size() - kChecksumBytes);
  return storage::load_u64_le(bytes.data() + checked.size()) == storage::crc32c(checked);
}

bool restore(Call& call, std::string_view bytes, std::string_view key, int64_t expire_at_ms) {
  const auto type = static_cast<Type>(bytes[kMagic.size()]);
  std::string_view content = bytes.substr(kMagic.size() + 1);
  content.remove_suffix(kChecksumBytes);
  if (!can_dump(type)) return false;
  if (type == Type::kString) {
    storage::Ref ref = call.look_up(key);
    call.keys.put(&ref, type, content, expire_at_ms);
    return true;
  }
  const auto contents = contents_of(content, type);
  if (!contents) return false;
  Collection target = replace_with_collection(call, key, type);
  for (const Element& element : contents->elements)
    target.elements().put(element.member, element.order, element.value);
  if (contents->form == Form::kLarge) target.make_large();
  storage::Ref ref = call.look_up(key);
  if (expire_at_ms != 0) call.keys.set_expiry(&ref, expire_at_ms);
  return true;
}

}  // namespace weir::server
