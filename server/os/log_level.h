// How much the log tells; each level includes those after it. The names are those of Redis and of
// spdlog: kVerbose and kDebug log alike, as do kNotice and kInfo, and CONFIG GET answers the word
// that was set.
#pragma once

namespace weir::server {

enum class LogLevel { kTrace, kDebug, kVerbose, kNotice, kInfo, kWarning, kError, kNothing };

}  // namespace weir::server
