// The payload of a record that owns elements: it begins with the ids of its lists, and goes on with
// the owner's own bytes. DO NOT CHANGE: these bytes are on disk.
//
//     varint n (1 to 18), n x varint id, the owner's own bytes
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

struct OwnerView {
  std::array<ElementsId, kOwnedListsMax> ids;
  size_t lists = 0;
  std::string_view rest;  // the owner's own bytes

  std::span<const ElementsId> all() const { return {ids.data(), lists}; }
};

// REQUIRES: 1 to kOwnedListsMax ids.
inline void append_owner_head(std::string* out, std::span<const ElementsId> ids) {
  put_varint(out, ids.size());
  for (const ElementsId id : ids) put_varint(out, id);
}

// False for bytes that are no owner's payload.
[[nodiscard]] inline bool parse_owner(std::string_view payload, OwnerView* owner) {
  Reader reader(payload);
  owner->lists = reader.varint();
  if (owner->lists == 0 || owner->lists > kOwnedListsMax) return false;
  for (size_t i = 0; i < owner->lists; ++i) {
    owner->ids[i] = reader.varint();
    if (owner->ids[i] == 0 || owner->ids[i] > kElementsIdMax) return false;
  }
  owner->rest = reader.rest();
  return reader.ok();
}

}  // namespace weir::storage
