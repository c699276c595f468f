#include "server/http/v1/endpoints.h"

#include <algorithm>

#include "base/ascii.h"

namespace weir::server::http {

std::vector<const Endpoint*> all_endpoints() {
  std::vector<const Endpoint*> all;
  for (const auto rows : {key_endpoints(), policy_endpoints()}) {
    for (const Endpoint& row : rows) all.push_back(&row);
  }
  return all;
}

const Endpoint* find_endpoint(std::string_view path) {
  for (const auto rows : {key_endpoints(), policy_endpoints()}) {
    for (const Endpoint& row : rows) {
      if (row.path == path) return &row;
    }
  }
  return nullptr;
}

const Member* find_member(std::span<const Member> members, std::string_view name) {
  const auto found = std::find_if(members.begin(), members.end(), [name](const Member& member) {
    return equals_ignoring_case(member.name, name);
  });
  return found == members.end() ? nullptr : &*found;
}

std::string row_name(const Endpoint& endpoint) {
  std::string name = to_lower(endpoint.command);
  std::replace(name.begin(), name.end(), ' ', '|');
  return name;
}

}  // namespace weir::server::http
