// What it has found who has read a file again.
#pragma once

namespace weir::server {

enum class Reloaded { kSame, kNew };

}  // namespace weir::server
