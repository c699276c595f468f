// What a line of the log looks like.
#pragma once

namespace weir::server {

// kText: "2026-11-26T10:00:00.123+00:00 info text name=value".
// kJson: {"time":"2026-11-26T10:00:00.123+00:00","level":"info","message":"text","name":"value"}
enum class LogFormat { kText, kJson };

}  // namespace weir::server
