// What is asked of JetStream: messages to the subjects of its interface, and to those of a shard's
// streams.
//
// Invariants
// 1. A conditional append is refused by the server unless the stream ends at the log index of
//    `expected` (Nats-Expected-Last-Sequence, 0 too) and the last message of the subject of
//    `expected` is the one at that log index. Both are looked at by the stream's leader alone,
//    before the message is proposed to the others.
// 2. Nats-Expected-Last-Msg-Id, which would name the whole crc, is never sent: each server of a
//    cluster looks at it when it stores the message, against what it remembers itself. A server
//    that was away and was sent what it lacks (processCatchupMsg of the server, up to 2.15.2 at
//    least) remembers an older id, drops what it is told to store, and is no copy any more
//    (tests/nats/cluster_faults_test.cc fails then). Before 2.15 a restarted server also forgets
//    the id of a message that is older than the duplicate window.
// 3. A subject holds 16 bits of the crc, not all 64, because the server keeps an index of subjects
//    in memory: 65536 of them take it a few megabytes, one for each record would take gigabytes.
//    So an engine that lost a suffix and gave its log indexes out again lets one append of 65536
//    follow a record that it does not name. Readers find it: an append carries the whole crc of
//    what it follows (Weir-After).
// 4. An unconditional append has a message id of its own, so that the stream stores it once though
//    two servers take themselves for its leader.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/replication/head.h"
#include "storage/shared_logs/nats/names.h"

namespace weir::storage::nats {

inline constexpr const char* kCrcHeader = "Weir-Crc";
inline constexpr const char* kAfterHeader = "Weir-After";

struct Outgoing {
  std::string subject;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string payload;
  bool is_stored_once = false;  // it gets an id (Nats-Msg-Id) that no other message has
};

Outgoing append(const Names& names, const std::optional<replication::Head>& expected, uint64_t crc,
                std::string record);

// The first message of the stream from this sequence on.
Outgoing get_message(const std::string& stream, uint64_t from);
Outgoing get_info(const std::string& stream);
// All messages before this sequence go. REQUIRES: the stream reaches to it.
Outgoing purge(const std::string& stream, uint64_t before);

Outgoing make_log(const Names& names, uint64_t replicas, uint64_t bytes_max);
Outgoing make_registry(const Names& names, uint64_t replicas);
Outgoing put_facts(const Names& names, const std::string& member, std::string facts);

}  // namespace weir::storage::nats
