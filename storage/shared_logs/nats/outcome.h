// What has become of an append, by the answer to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/replication/shared_log.h"
#include "storage/shared_logs/nats/calls.h"

namespace weir::storage::nats {

struct AppendEnd {
  replication::Appended told;
  std::string trouble;  // one line; empty: all is well
};

// kDone if the stream has stored it now; kRefused if it said that it does not end with what the
// append follows. All else is kUnknown, that it had stored such a message before as well: which
// one that was, nobody knows.
AppendEnd end_of_append(const Reply& reply, const std::string& stream,
                        const std::optional<replication::Head>& expected, uint64_t crc);

}  // namespace weir::storage::nats
