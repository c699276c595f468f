// The payload of a record that owns elements: it begins with the ids of its lists, and goes on with
// the header's own bytes. DO NOT CHANGE: these bytes are on disk.
//
//     varint n (1 to 18), n x varint id, the header's own bytes
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "storage/format/codec.h"
#include "storage/format/element_key.h"

namespace weir::storage {

inline constexpr size_t kOwnedListsMax = 18;  // a limiter's 16 limits, its bookings, its holds

struct HeaderView {
  std::array<ElementsId, kOwnedListsMax> ids;
  size_t lists = 0;
  std::string_view rest;  // the header's own bytes

  std::span<const ElementsId> all() const { return {ids.data(), lists}; }
};

// REQUIRES: 1 to kOwnedListsMax ids.
inline void append_list_ids(std::string* out, std::span<const ElementsId> ids) {
  put_varint(out, ids.size());
  for (const ElementsId id : ids) put_varint(out, id);
}

// False for bytes that are no header's payload.
[[nodiscard]] inline bool parse_header(std::string_view payload, HeaderView* header) {
  Reader reader(payload);
  header->lists = reader.varint();
  if (header->lists == 0 || header->lists > kOwnedListsMax) return false;
  for (size_t i = 0; i < header->lists; ++i) {
    header->ids[i] = reader.varint();
    if (header->ids[i] == 0 || header->ids[i] > kElementsIdMax) return false;
  }
  header->rest = reader.rest();
  return reader.ok();
}

}  // namespace weir::storage
