#include "server/types/set.h"

#include "resp/numbers.h"

namespace weir::server {

bool add_member(Collection* set, std::string_view member) {
  storage::Elements& members = set->create_if_absent();
  const auto number = resp::parse_int64(member);
  if (!members.add(member, number ? storage::order_of_integer(*number) : UINT64_MAX, {}))
    return false;
  if (!number || members.size() > kCompactMembersMax) set->make_large();
  return true;
}

}  // namespace weir::server
