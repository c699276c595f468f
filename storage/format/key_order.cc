#include "storage/format/key_order.h"

#include "base/hash_slot.h"

namespace weir::storage {

uint16_t hash_slot(std::string_view key) { return weir::hash_slot(key); }

}  // namespace weir::storage
