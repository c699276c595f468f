// MEMORY: what keys take, and what the process takes as a whole.
#include <algorithm>
#include <string>

#include "server/command/arguments.h"
#include "server/command/option_table.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/core/metrics/metric_sections.h"
#include "server/core/run/server.h"
#include "server/os/machine.h"
#include "server/report/metrics.h"
#include "server/script/run/scripts.h"
#include "server/types/collection.h"

namespace weir::server {
namespace {

struct UsageOptions {
  size_t samples = 5;  // 0: all elements
};

Result<void, ErrorReplied> take_samples(Call& call, Args values, UsageOptions* options) {
  const auto count = integer_argument(call, values[0]);
  if (!count) return count.error();
  if (*count < 0) return reply_error(call, kSyntaxError);
  options->samples = static_cast<size_t>(*count);
  return {};
}

constexpr OptionRow<UsageOptions> kUsageOptions[] = {
    {.word = "SAMPLES", .values = 1, .take = take_samples}};

// Replies what the record takes in the working set, without its share of the table. A collection's
// size is estimated from some of its elements.
void memory_usage(Call& call) {
  UsageOptions options;
  if (!read_options(call, 3, kUsageOptions, &options)) return;
  const storage::Ref ref = call.look_up(call.args[2]);
  if (!ref.exists()) return call.reply.null();
  size_t bytes = storage::kEntryHeadBytes + ref.key().size() + ref.value().size();
  if (storage::owns_elements(ref.type())) bytes += element_bytes(call, ref, options.samples);
  call.reply.integer(static_cast<int64_t>(bytes));
}

// The names of MEMORY STATS are Redis'; things that weir does not have are 0.
class StatsReply {
 public:
  explicit StatsReply(Call* call) : call_(*call) {}

  void integer(std::string_view name, int64_t value) {
    call_.reply.bulk(name);
    call_.reply.integer(value);
  }
  void integer(std::string_view name, size_t value) { integer(name, static_cast<int64_t>(value)); }
  void real(std::string_view name, double value) {
    call_.reply.bulk(name);
    call_.reply.real(value);
  }
  void database(int number, size_t keys) {
    call_.reply.bulk("db." + std::to_string(number));
    call_.reply.map(3);
    integer("overhead.hashtable.main", keys * storage::kEntryHeadBytes);
    integer("overhead.hashtable.expires", size_t{0});
    integer("overhead.hashtable.slot-to-keys", size_t{0});
  }

 private:
  Call& call_;
};

// "Allocated" is the working set, as in INFO; the rest of the process is "resident".
struct MemoryMetrics {
  int64_t used, peak, clients, scripts, overhead;
  ProcessMemory process;
  size_t keys;
};

MemoryMetrics memory_metrics(Call& call) {
  const storage::KeyspaceMetrics metrics = call.keys.metrics();
  const auto used = static_cast<int64_t>(metrics.bytes);
  const script::ScriptMetrics scripts = server_of(call).scripting().scripts.metrics();
  const auto clients = static_cast<int64_t>(server_of(call).sessions().bytes());
  size_t keys = 0;
  for (int database = 0; database < call.keys.options().databases; ++database)
    keys += static_cast<size_t>(call.keys.size(database));
  return {.used = used,
          .peak = std::max(
              used, static_cast<int64_t>(server_of(call).report().stats.working_set_bytes_max)),
          .clients = clients,
          .scripts = static_cast<int64_t>(scripts.engine_bytes + scripts.body_bytes),
          .overhead = overhead_bytes(metrics),
          .process = process_memory(),
          .keys = keys};
}

void reply_allocator(StatsReply& out, const MemoryMetrics& metrics) {
  const int64_t resident = metrics.process.resident;
  const int64_t heap = metrics.process.heap_resident;
  out.integer("allocator.allocated", metrics.used);
  out.integer("allocator.active", metrics.used);
  out.integer("allocator.resident", heap);
  out.real("allocator-fragmentation.ratio", 1);
  out.integer("allocator-fragmentation.bytes", size_t{0});
  out.real("allocator-rss.ratio", ratio(heap, metrics.used));
  out.integer("allocator-rss.bytes", heap - metrics.used);
  out.real("rss-overhead.ratio", ratio(resident, heap));
  out.integer("rss-overhead.bytes", resident - heap);
  out.real("fragmentation", ratio(resident, metrics.used));
  out.integer("fragmentation.bytes", resident - metrics.used);
}

void memory_stats(Call& call) {
  const MemoryMetrics metrics = memory_metrics(call);
  std::vector<std::pair<int, size_t>> databases;
  for (int database = 0; database < call.keys.options().databases; ++database) {
    const auto keys = static_cast<size_t>(call.keys.size(database));
    if (keys > 0) databases.emplace_back(database, keys);
  }
  constexpr int64_t kOthers = 27;
  call.reply.map(kOthers + static_cast<int64_t>(databases.size()));
  StatsReply out(&call);
  out.integer("peak.allocated", metrics.peak);
  out.integer("total.allocated", metrics.used);
  out.integer("startup.allocated", size_t{0});
  out.integer("replication.backlog", size_t{0});
  out.integer("clients.slaves", size_t{0});
  out.integer("clients.normal", metrics.clients);
  out.integer("cluster.links", size_t{0});
  out.integer("aof.buffer", size_t{0});
  out.integer("lua.caches", metrics.scripts);
  out.integer("functions.caches", size_t{0});
  for (const auto& [database, keys] : databases) out.database(database, keys);
  const int64_t dataset = metrics.used - metrics.overhead;
  const auto keys = static_cast<int64_t>(metrics.keys);
  out.integer("overhead.total", metrics.overhead);
  out.integer("keys.count", keys);
  out.integer("keys.bytes-per-key", keys == 0 ? 0 : metrics.used / keys);
  out.integer("dataset.bytes", dataset);
  out.real("dataset.percentage", 100 * ratio(dataset, metrics.used));
  out.real("peak.percentage", 100 * ratio(metrics.used, metrics.peak));
  reply_allocator(out, metrics);
}

void memory_doctor(Call& call) {
  call.reply.verbatim(
      "Nothing is the matter: the working set is held within maxmemory by writing to disk what is "
      "not in use. INFO memory and INFO storage tell how much there is of what.\n");
}

void memory_malloc_stats(Call& call) {
  call.reply.verbatim("Stats not supported for the current allocator");
}

void memory_purge(Call& call) { call.reply.status("OK"); }

constexpr Command kMemoryCommands[] = {
    {.name = "memory",
     .arity = -2,
     .flags = kContainer,
     .group = "server",
     .summary = "Tells what keys cost, and what memory is taken.",
     .since = "4.0.0"},
    {.name = "memory|doctor",
     .arity = 2,
     .group = "server",
     .categories = "-",
     .summary = "Says what is wrong with memory, which is nothing.",
     .since = "4.0.0",
     .tips = "nondeterministic_output request_policy:all_shards response_policy:special",
     .run = memory_doctor},
    {.name = "memory|help",
     .arity = 2,
     .flags = kLoading,
     .group = "server",
     .summary = "Lists the subcommands.",
     .since = "4.0.0",
     .run = container_help},
    {.name = "memory|malloc-stats",
     .arity = 2,
     .group = "server",
     .categories = "-",
     .summary = "Says that the allocator keeps no statistics.",
     .since = "4.0.0",
     .tips = "nondeterministic_output request_policy:all_shards response_policy:special",
     .run = memory_malloc_stats},
    {.name = "memory|purge",
     .arity = 2,
     .group = "server",
     .categories = "-",
     .summary = "Accepted for compatibility: freed memory goes back by itself.",
     .since = "4.0.0",
     .tips = "request_policy:all_shards response_policy:all_succeeded",
     .run = memory_purge},
    {.name = "memory|stats",
     .arity = 2,
     .group = "server",
     .categories = "-",
     .summary = "Answers how much memory is taken, and by what.",
     .since = "4.0.0",
     .tips = "nondeterministic_output request_policy:all_shards response_policy:special",
     .run = memory_stats},
    {.name = "memory|usage",
     .arity = -3,
     .flags = kReads,
     .keys = {2, 2, 1, 0, KeyUse::kLooks},
     .group = "server",
     .categories = "-",
     .usage = "key [SAMPLES count]",
     .summary = "Answers how many bytes of memory a key and its value take.",
     .since = "4.0.0",
     .run = memory_usage},
};

}  // namespace

Commands memory_commands() { return kMemoryCommands; }

}  // namespace weir::server
