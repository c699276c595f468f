#include "server/types/hash.h"

#include <algorithm>

namespace weir::server {
namespace {

uint64_t next_order(const storage::Elements& fields) {
  return fields.empty() ? 0 : fields.at(fields.size() - 1).order + 1;
}

}  // namespace

bool put_field(Collection* hash, std::string_view field, std::string_view value) {
  const bool too_long = std::max(field.size(), value.size()) > kCompactFieldBytesMax;
  storage::Elements fields = hash->create_if_absent();
  const auto found = fields.find(field);
  fields.put(field, found ? found->order : next_order(fields), value);
  if (too_long || fields.size() > kCompactFieldsMax) hash->make_large();
  return !found;
}

}  // namespace weir::server
