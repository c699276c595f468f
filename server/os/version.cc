#include "server/os/version.h"

namespace weir::server {
namespace {

std::string_view g_version = WEIR_VERSION;

}  // namespace

std::string_view weir_version() { return g_version; }

void set_weir_version(std::string_view version) { g_version = version; }

}  // namespace weir::server
