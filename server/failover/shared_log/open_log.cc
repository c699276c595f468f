#include "server/failover/shared_log/open_log.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "storage/shared_logs/file_log.h"
#include "storage/shared_logs/nats/address.h"
#include "storage/shared_logs/nats_log.h"
#include "storage/shared_logs/postgres/address.h"
#include "storage/shared_logs/postgres_log.h"
#include "storage/shared_logs/server_log.h"

namespace weir::server {

using storage::replication::Appended;
using storage::replication::Genesis;
using storage::replication::Head;
using storage::replication::Read;

namespace {

constexpr std::string_view kNoShard = "a shared log on a server needs a shard's name";
constexpr std::string_view kFile = "file:";
constexpr int64_t kOpenLookNs = 10 * kNsPerMs;
constexpr size_t kGenesisBytes = 4096;

OpenedLog opened(std::unique_ptr<storage::ServerLog> log) {
  storage::ServerLog* const server = log.get();
  return {.log = std::move(log), .registry = server, .watched = server};
}

Result<OpenedLog, std::string> open_postgres(std::string_view address, const LogPlan& plan) {
  const auto parsed = storage::postgres::parse_address(std::string(address));
  if (!parsed) return parsed.error();
  if (plan.shard.empty()) return std::string(kNoShard);
  return opened(std::make_unique<storage::PostgresLog>(
      storage::PostgresOptions{.address = *parsed,
                               .shard = plan.shard,
                               .password_file = plan.password_file,
                               .log_timeout_ns = plan.log_timeout_ns,
                               .makes_shard = plan.makes_shard}));
}

Result<OpenedLog, std::string> open_nats(std::string_view address, const LogPlan& plan) {
  const auto parsed = storage::nats::parse_address(address);
  if (!parsed) return parsed.error();
  if (parsed->user.empty() && !plan.password_file.empty())
    return std::string(
        "log-password-file has the password of a user, and the address of the shared log names "
        "none: nats://USER@HOST");
  if (plan.shard.empty()) return std::string(kNoShard);
  return opened(std::make_unique<storage::NatsLog>(
      storage::NatsOptions{.address = *parsed,
                           .shard = plan.shard,
                           .password_file = plan.password_file,
                           .log_timeout_ns = plan.log_timeout_ns,
                           .makes_shard = plan.makes_shard,
                           .bytes_max = plan.bytes_max,
                           .allows_weak_engine = plan.allows_weak_engine}));
}

}  // namespace

Result<OpenedLog, std::string> open_shared_log(std::string_view address, const LogPlan& plan) {
  if (storage::postgres::is_postgres_address(address)) return open_postgres(address, plan);
  if (storage::nats::is_nats_address(address)) return open_nats(address, plan);
  const bool is_file = address.starts_with(kFile);
  const std::string path(is_file ? address.substr(kFile.size()) : "");
  if (path.empty() || path[0] != '/' || path.back() == '/') {
    const bool may_hold_password = address.find('@') != std::string_view::npos;
    return "a shared log is file:PATH, PATH beginning with /, postgres://USER@HOST/DATABASE, "
           "nats://HOST, or tls://HOST" +
           (may_hold_password ? "" : ", got '" + std::string(address) + "'");
  }
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return "a shared log is file:PATH of a file, and " + path + " is a directory";
  auto log = std::make_unique<storage::FileLog>(path);
  storage::FileLog* const file = log.get();
  return OpenedLog{.log = std::move(log), .registry = file, .watched = nullptr};
}

template <typename Answer>
void WaitingLog::wait_for(const std::optional<Answer>& answer) {
  const int64_t end_ns = clock_.steady_ns() + kAnswerNs;
  while (true) {
    log_.tick(clock_.steady_ns());
    if (answer || clock_.steady_ns() >= end_ns) return;
    clock_.sleep_ns(kOpenLookNs);
  }
}

// The answer may come when nobody waits for it any more.
Appended WaitingLog::append(std::optional<Head> expected, std::string record) {
  const auto answer = std::make_shared<std::optional<Appended>>();
  log_.append(expected, std::move(record), [answer](const Appended& came) { *answer = came; });
  wait_for(*answer);
  return answer->value_or(Appended{});
}

Read WaitingLog::read(Head after, size_t bytes_max) {
  const auto answer = std::make_shared<std::optional<Read>>();
  log_.read(after, bytes_max, [answer](Read came) { *answer = std::move(came); });
  wait_for(*answer);
  return answer->value_or(Read{});
}

Result<std::optional<FoundGenesis>, std::string> read_genesis(WaitingLog* log) {
  const Read read = log->read({}, kGenesisBytes);
  if (read.outcome == Read::Outcome::kTrimmed)
    return std::string(
        "the shared log does not keep its beginning any more: a directory joins by "
        "a copy of another member's checkpoint");
  if (read.outcome != Read::Outcome::kRecords) {
    const std::string why = log->trouble().text;
    return "the shared log cannot be read" + (why.empty() ? "" : ": " + why);
  }
  if (read.records.empty()) return std::optional<FoundGenesis>();
  const auto& first = read.records.front();
  const auto decoded = storage::replication::decode_record(first.bytes);
  const Genesis* genesis = decoded ? std::get_if<Genesis>(&decoded->body) : nullptr;
  if (genesis == nullptr)
    return std::string("the shared log does not begin with a GENESIS that this weir-server knows");
  return std::optional(FoundGenesis{first.head, *genesis});
}

}  // namespace weir::server
