#include "server/offline/check.h"

#include <algorithm>

#include "base/time_units.h"
#include "base/utc_text.h"
#include "server/core/disk/contents.h"
#include "server/core/run/server.h"
#include "storage/rocks/rocks_directory.h"
#include "storage/rocks/rocks_verify.h"
#include "storage/store/newest_records.h"

namespace weir::server {
namespace {

constexpr int kOpenTablesMax = 256;

storage::RocksOptions options_of(const std::string& directory) {
  storage::RocksOptions options;
  options.directory = directory;
  options.open_tables_max = kOpenTablesMax;
  options.inspect = true;
  return options;
}

std::string instant_text(int64_t instant_ns) {
  return utc_text(instant_ns / kNsPerS, "%Y-%m-%d %H:%M:%S UTC");
}

// "3 hashes" would need a grammar: "hash 3, string 12".
std::string counts_text(const std::map<std::string, uint64_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    text += (text.empty() ? "" : ", ") + name + " " + std::to_string(count);
  return text.empty() ? "none" : text;
}

uint64_t sum(const std::map<std::string, uint64_t>& counts) {
  uint64_t all = 0;
  for (const auto& [name, count] : counts) all += count;
  return all;
}

class Check {
 public:
  Check(const std::string& directory, std::span<const Commands> lists, Clock* clock,
        Progress* progress)
      : directory_(directory), lists_(lists), clock_(*clock), progress_(*progress) {}

  CheckReport run() {
    auto store = storage::make_rocks_store(options_of(directory_));
    storage::OpenReport opened;
    const storage::Status status = store->open(&opened);
    if (!status.ok()) {
      report_.damage.push_back(status.message());
      if (status.code() == storage::Status::Code::kRefused) return report_;
    }
    verify_tables();
    if (!status.ok() || !report_.damage.empty()) return report_;
    if (!opened.tail_note.empty())
      report_.notes.push_back("a crash has cut the log's end off, as a start will: " +
                              opened.tail_note);
    read_records(store.get(), opened);
    store.reset();
    if (report_.damage.empty()) open_all();
    return report_;
  }

 private:
  void verify_tables() {
    const auto verified =
        storage::verify_tables(options_of(directory_), [this](uint64_t done, uint64_t all) {
          if (progress_.is_due())
            progress_.show("checksums", done, all, size_text(done) + " of " + size_text(all));
        });
    progress_.clear();
    for (const std::string& line : verified.damage) {
      if (std::ranges::find(report_.damage, line) == report_.damage.end())
        report_.damage.push_back(line);
    }
    tables_ = verified.files;
    table_bytes_ = verified.bytes;
  }

  void read_records(storage::Store* store, const storage::OpenReport& opened) {
    storage::NewestRecords records(store, opened.written_back_turn, opened.instant_ns);
    if (const auto status = records.read_log(); !status.ok()) {
      report_.damage.push_back(status.message());
      return;
    }
    Contents contents(store->hash_seed(), records.instant_ns());
    const storage::StoreMetrics metrics = store->metrics();
    const uint64_t expected = metrics.state_records_estimate + records.changes();
    const auto status = records.visit([&](std::string_view key,
                                          std::string_view value) -> storage::Status {
      contents.take(key, value);
      if (contents.records() % 1024 == 0 && progress_.is_due())
        progress_.show("records", contents.records(), expected, std::to_string(contents.records()));
      return {};
    });
    progress_.clear();
    if (status.ok()) contents.end();
    for (const std::string& line : contents.damage()) report_.damage.push_back(line);
    if (contents.damages() > contents.damage().size())
      report_.damage.push_back(
          "and " + std::to_string(contents.damages() - contents.damage().size()) + " more records");
    if (!status.ok()) report_.damage.push_back(status.message());
    tell(contents, records, metrics, opened);
  }

  void tell(const Contents& contents, const storage::NewestRecords& records,
            const storage::StoreMetrics& metrics, const storage::OpenReport& opened) {
    const auto say = [this](const std::string& line) { report_.lines.push_back(line); };
    say(identity());
    say("turn " + std::to_string(records.turn()) + " of " + instant_text(records.instant_ns()) +
        "; " + std::to_string(records.turns_of_log()) + " turns in the log after turn " +
        std::to_string(opened.written_back_turn));
    say(size_text(table_bytes_) + " in " + std::to_string(tables_) + " tables, log " +
        size_text(metrics.log_bytes) + ", " + std::to_string(contents.records()) + " records, " +
        std::to_string(contents.elements()) + " of them elements");
    for (const auto& [number, database] : contents.databases()) {
      databases_ = std::max(databases_, number + 1);
      if (database.keys.empty()) continue;
      say((number < 0 ? "kept by weir itself: "
                      : "database " + std::to_string(number) + ": " +
                            std::to_string(sum(database.keys)) + " keys: ") +
          counts_text(database.keys) +
          (database.expired == 0
               ? ""
               : "; of them expired, not removed yet: " + std::to_string(database.expired)));
    }
    say("limits: " + counts_text(contents.limits()));
    say("policies " + std::to_string(contents.policies()) + ", scripts " +
        std::to_string(contents.scripts()) + ", libraries of functions " +
        std::to_string(contents.libraries()));
    if (contents.left_over() != 0)
      say("of databases that were flushed, to be erased: " + std::to_string(contents.left_over()) +
          " records");
  }

  std::string identity() const {
    storage::RocksDirectory directory(directory_);
    bool fresh = false;
    storage::DirectoryIdentity identity;
    if (const auto status = directory.identify(&fresh, &identity); !status.ok())
      return directory_ + ": " + status.message();
    return directory_ + ": weir data of format " + std::to_string(identity.format()) + ", id " +
           identity.id +
           (identity.shard
                ? ", of shard " + identity.shard->name + " of cluster " + identity.shard->cluster
                : "");
  }

  void open_all() {
    Config config;
    config.dir = directory_;
    config.databases = std::max<int64_t>(config.databases, databases_);
    Server server(
        config, &clock_, [this] { return storage::make_rocks_store(options_of(directory_)); },
        lists_);
    if (const auto status = server.open(); !status.ok()) {
      report_.damage.push_back("a start would fail: " + status.message());
      return;
    }
    for (const std::string& name : server.limiters().policies.names()) {
      if (server.limiters().policies.find(name) == nullptr)
        report_.damage.push_back("policy " + shown(name) + " cannot be read");
    }
  }

  const std::string directory_;
  const std::span<const Commands> lists_;
  Clock& clock_;
  Progress& progress_;
  CheckReport report_;
  uint64_t tables_ = 0;
  uint64_t table_bytes_ = 0;
  int databases_ = 0;
};

}  // namespace

CheckReport check_data(const std::string& directory, std::span<const Commands> lists, Clock* clock,
                       Progress* progress) {
  return Check(directory, lists, clock, progress).run();
}

}  // namespace weir::server
