// What this machine is called and reached by.
#pragma once

#include <string>
#include <string_view>

namespace weir::server {

// Tells whether `host` is an address of one of the machine's interfaces, as text without a zone, or
// the machine's own name.
bool is_own_host(std::string_view host);

}  // namespace weir::server
