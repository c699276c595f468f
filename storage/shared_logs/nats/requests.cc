#include "storage/shared_logs/nats/requests.h"

#include "base/time_units.h"
#include "storage/replication/shared_log.h"

namespace weir::storage::nats {

using replication::Head;

namespace {

constexpr int64_t kDuplicateWindowNs = 2 * kNsPerMinute;
constexpr uint64_t kRegistryBytesMax = 1 << 20;

std::string number(uint64_t value) { return std::to_string(value); }

Outgoing api(const std::string& name, std::string payload) {
  return {.subject = "$JS.API.STREAM." + name, .headers = {}, .payload = std::move(payload)};
}

// Names hold nothing that JSON writes otherwise (names.h).
Outgoing make_stream(const std::string& name, const std::string& subjects, uint64_t replicas,
                     const std::string& rest) {
  return api("CREATE." + name,
             R"({"name":")" + name + R"(","subjects":[")" + subjects +
                 R"("],"retention":"limits","storage":"file","num_replicas":)" + number(replicas) +
                 R"(,"max_consumers":-1,"max_msgs":-1,"deny_delete":false,"deny_purge":false,)" +
                 R"("allow_direct":false,"duplicate_window":)" +
                 std::to_string(kDuplicateWindowNs) + "," + rest + "}");
}

}  // namespace

Outgoing append(const Names& names, const std::optional<Head>& expected, uint64_t crc,
                std::string record) {
  Outgoing message{.subject = names.log_subject(crc),
                   .headers = {{kCrcHeader, hex_of(crc)}},
                   .payload = std::move(record),
                   .is_stored_once = !expected.has_value()};
  if (!expected) return message;
  message.headers.emplace_back("Nats-Expected-Last-Sequence", number(expected->log_index));
  if (expected->log_index == 0) return message;
  message.headers.emplace_back("Nats-Expected-Last-Subject-Sequence", number(expected->log_index));
  message.headers.emplace_back("Nats-Expected-Last-Subject-Sequence-Subject",
                               names.log_subject(expected->crc));
  message.headers.emplace_back(kAfterHeader, hex_of(expected->crc));
  return message;
}

Outgoing get_message(const std::string& stream, uint64_t from) {
  return api("MSG.GET." + stream, R"({"seq":)" + number(from) + R"(,"next_by_subj":">"})");
}

Outgoing get_info(const std::string& stream) { return api("INFO." + stream, ""); }

Outgoing purge(const std::string& stream, uint64_t before) {
  return api("PURGE." + stream, R"({"seq":)" + number(before) + "}");
}

Outgoing make_log(const Names& names, uint64_t replicas, uint64_t bytes_max) {
  return make_stream(
      names.log_stream(), names.log_subjects(), replicas,
      R"("discard":"new","max_age":0,"max_msgs_per_subject":-1,"max_bytes":)" + number(bytes_max));
}

// The newest facts of each member; facts that are so old go by themselves.
Outgoing make_registry(const Names& names, uint64_t replicas) {
  return make_stream(names.registry_stream(), names.registry_prefix() + ">", replicas,
                     R"("discard":"new","max_msgs_per_subject":1,"allow_rollup_hdrs":true,)"
                     R"("max_age":)" +
                         std::to_string(replication::MemberRegistry::kRemovedAfterNs) +
                         R"(,"max_bytes":)" + number(kRegistryBytesMax));
}

Outgoing put_facts(const Names& names, const std::string& member, std::string facts) {
  return {.subject = names.registry_prefix() + token_of(member),
          .headers = {},
          .payload = std::move(facts)};
}

}  // namespace weir::storage::nats
