#include "server/types/set.h"

#include "resp/numbers.h"

namespace weir::server {

uint64_t order_of_member(std::string_view member) {
  const auto number = resp::parse_int64(member);
  return number ? storage::order_of_integer(*number) : UINT64_MAX;
}

bool add_member(Collection* set, std::string_view member) {
  storage::Elements members = set->create_if_absent();
  const auto number = resp::parse_int64(member);
  if (!members.add(member, order_of_member(member), {})) return false;
  if (!number || members.size() > kCompactMembersMax) set->make_large();
  return true;
}

}  // namespace weir::server
