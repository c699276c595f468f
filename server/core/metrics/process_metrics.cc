// The metrics of the process: what runs, its memory and its time.
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/time_units.h"
#include "server/core/metrics/metric_sections.h"
#include "server/core/run/server.h"
#include "server/os/machine.h"
#include "server/os/memory_limit.h"
#include "server/script/run/script_metrics.h"

namespace weir::server {
namespace {

constexpr int64_t kLruClockPeriodS = 1 << 24;  // Redis' clock has 24 bits
constexpr MetricUnit kMemory = MetricUnit::kMemory;

std::string system_name() {
  utsname name{};
  uname(&name);
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

// Writes what the C library has handed out, what it holds for that, and what is not its own.
void write_allocator(const ProcessMemory& memory, MetricWriter& out) {
  const int64_t active = memory.heap_active;
  out.gauge({"allocator_allocated", "Bytes that the allocator has handed out.", kByteMetric},
            memory.heap_allocated);
  out.gauge({"allocator_active", "Bytes that the allocator holds.", kByteMetric}, active);
  out.gauge({"allocator_resident", "Resident bytes of those, at most.", kByteMetric},
            memory.heap_resident);
  out.gauge({"allocator_frag_ratio", "Bytes held to bytes handed out."},
            ratio(active, memory.heap_allocated), 2);
  out.gauge({"allocator_frag_bytes", "Bytes held and not handed out.", kByteMetric},
            active - memory.heap_allocated);
  out.gauge({"allocator_rss_ratio", "Resident bytes of the allocator to bytes held."},
            ratio(memory.heap_resident, active), 2);
  out.gauge(
      {"allocator_rss_bytes", "Resident bytes of the allocator less bytes held.", kByteMetric},
      memory.heap_resident - active);
  out.gauge({"rss_overhead_ratio", "Resident bytes of the process to those of the allocator."},
            ratio(memory.resident, memory.heap_resident), 2);
  out.gauge({"rss_overhead_bytes", "Resident bytes of the process that are not the allocator's.",
             kByteMetric},
            memory.resident - memory.heap_resident);
}

// "Used" is what maxmemory bounds: the working set. What else the process holds (the store's
// buffers and cache, clients' buffers, the program) shows in the resident size.
void write_used_memory(int64_t resident, Server& server, MetricWriter& out) {
  const storage::KeyspaceMetrics metrics = server.keys().metrics();
  const auto used = static_cast<int64_t>(metrics.bytes);
  const int64_t overhead = overhead_bytes(metrics);
  const auto peak =
      std::max(used, static_cast<int64_t>(server.report().stats.working_set_bytes_max));
  out.gauge({"used_memory", "Bytes of the working set, which maxmemory bounds.", kMemory}, used);
  out.gauge({"used_memory_rss", "Resident bytes, as the system counts them.", kMemory}, resident);
  out.gauge({"used_memory_peak", "The most bytes that the working set had.", kMemory}, peak);
  out.gauge({"used_memory_peak_perc", "The working set, of its peak.", MetricUnit::kPercent},
            100 * ratio(used, peak), 2);
  out.gauge({"used_memory_rss_peak", "The most resident bytes.", kMemory}, peak_resident_bytes());
  out.gauge(
      {"used_memory_overhead", "Bytes of the working set beside keys and values.", kByteMetric},
      overhead);
  out.absent({"used_memory_startup"});  // a working set begins empty
  out.gauge({"used_memory_dataset", "Bytes of keys and values in the working set.", kByteMetric},
            used - overhead);
  out.gauge(
      {"used_memory_dataset_perc", "Keys and values, of the working set.", MetricUnit::kPercent},
      100 * ratio(used - overhead, used), 2);
  out.gauge({"total_system_memory", "Bytes that the process may have.", kMemory},
            memory_limit().bytes);
}

// Writes the parts of the resident size that Redis has no names for, so that all parts are its
// whole: `named` bytes of the heap have a line of their own before these.
void write_memory_parts(const ProcessMemory& memory, const storage::StoreMemory& store,
                        int64_t named, MetricWriter& out) {
  out.gauge({"mem_store_memtables", "Bytes of turns of the log that RocksDB keeps.", kByteMetric},
            store.memtables);
  out.gauge({"mem_store_log_queue", "Bytes of turns that wait for the log's file.", kByteMetric},
            store.log_queue);
  out.gauge({"mem_store_block_cache", "Bytes of blocks of files that RocksDB keeps.", kByteMetric},
            store.block_cache);
  out.gauge({"mem_store_table_readers", "Bytes of filters and indexes of RocksDB's open files.",
             kByteMetric},
            store.table_readers);
  named += static_cast<int64_t>(store.memtables + store.log_queue + store.block_cache +
                                store.table_readers);
  const int64_t not_of_files = memory.resident - memory.files;
  const int64_t unnamed = std::min(memory.heap_allocated, not_of_files) - named;
  out.gauge({"mem_unnamed", "Bytes that the allocator has handed out for what has no line here.",
             kByteMetric},
            std::max<int64_t>(unnamed, 0));
  out.gauge({"mem_free_resident", "Resident bytes that the allocator holds free, and stacks.",
             kByteMetric},
            std::max<int64_t>(not_of_files - std::max(memory.heap_allocated, named), 0));
  out.gauge(
      {"mem_program", "Resident bytes of the program's file and its libraries'.", kByteMetric},
      memory.files);
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_usec) / static_cast<double>(kUsPerS);
}

}  // namespace

void write_server_section(Server& server, MetricWriter& out) {
  constexpr MetricUnit kSeconds = MetricUnit::kSeconds;
  const Config& config = server.config();
  const int64_t now_ns = server.clock().wall_ns();
  const int64_t uptime_s =
      (server.clock().steady_ns() - server.report().started_steady_ns) / kNsPerS;
  std::error_code ignored;
  out.text({"redis_version", "The version of Redis whose protocol is spoken."}, kRedisVersion);
  out.absent("redis_git_sha1", "00000000");
  out.absent({"redis_git_dirty"});
  out.absent("redis_build_id", weir_version());
  out.text({"weir_version", "The version of weir."}, weir_version());
  out.absent("redis_mode", config.cluster_enabled ? "cluster" : "standalone");
  out.text({"os", "The operating system."}, system_name());
  out.text({"arch_bits", "Bits of an address."}, std::to_string(sizeof(void*) * 8));
  out.absent("monotonic_clock", "POSIX clock_gettime");
  out.absent("multiplexing_api", "epoll");
  out.text({"gcc_version", "The version of the compiler."}, __VERSION__);
  out.text({"process_id", "The process."}, std::to_string(getpid()));
  out.text({"process_supervised", "The service manager that is told of the start."},
           config.supervised == Supervision::kNo ? "no" : "systemd");
  out.text({"run_id", "A name of this run of the server."}, server.report().run_id);
  out.text({"tcp_port", "The port."},
           std::to_string(config.port != 0 ? config.port : config.tls_port));
  out.gauge({"server_time_usec", "Unix time of the server.", MetricUnit::kMicroseconds},
            now_ns / kNsPerUs);
  out.gauge({"uptime_in_seconds", "Time since the start.", kSeconds}, uptime_s);
  out.gauge({"uptime_in_days", "Days since the start."}, uptime_s / kSPerDay);
  out.gauge({"hz", "Chores in a second."}, config.hz);
  out.absent("configured_hz", std::to_string(config.hz));
  out.absent("lru_clock", std::to_string(now_ns / kNsPerS % kLruClockPeriodS));
  out.text({"executable", "The program's file."},
           std::filesystem::read_symlink("/proc/self/exe", ignored).string());
  out.text({"config_file", "The configuration file."}, config.config_file);
  out.absent({"io_threads_active"});
}

int64_t overhead_bytes(const storage::KeyspaceMetrics& metrics) {
  return static_cast<int64_t>(std::min(metrics.bytes, metrics.entries * storage::kEntryHeadBytes));
}

void write_memory_section(Server& server, MetricWriter& out) {
  const auto used = static_cast<int64_t>(server.keys().metrics().bytes);
  const ProcessMemory memory = process_memory();
  const int64_t resident = memory.resident;
  write_used_memory(resident, server, out);
  script::write_metrics(server.scripting().scripts, server.scripting().functions, out);
  out.gauge({"maxmemory", "The most bytes that the working set should have.", kMemory},
            server.keys().options().memory_bytes_max);
  out.absent("maxmemory_policy", "noeviction");
  out.gauge({"mem_fragmentation_ratio", "Resident bytes to those of the working set."},
            ratio(resident, used), 2);
  out.gauge({"mem_fragmentation_bytes", "Resident bytes beside the working set.", kByteMetric},
            resident - used);
  write_allocator(memory, out);
  out.absent({"mem_not_counted_for_evict", "mem_replication_backlog",
              "mem_total_replication_buffers", "mem_cluster_links", "mem_clients_slaves"});
  const size_t clients = server.sessions().bytes();
  const size_t tracked = server.messages().tracking().bytes();
  const size_t scripts =
      script::memory_bytes(server.scripting().scripts, server.scripting().functions);
  out.gauge({"mem_clients_normal", "Bytes of clients and their buffers.", kByteMetric}, clients);
  out.gauge({"mem_tracking_table", "Bytes of the names of keys that tracking clients have read.",
             kByteMetric},
            tracked);
  const storage::StoreInUse& store = server.keys().store_in_use();
  write_memory_parts(memory, store.is_open() ? store->memory() : storage::StoreMemory{},
                     used + static_cast<int64_t>(clients + tracked + scripts), out);
  out.absent({"mem_aof_buffer"});
  out.text({"mem_allocator", "The allocator."}, "libc");
  out.absent({"active_defrag_running", "lazyfree_pending_objects"});
}

void write_cpu_section(Server&, MetricWriter& out) {
  constexpr MetricUnit kSeconds = MetricUnit::kSeconds;
  rusage process{};
  rusage loop{};
  getrusage(RUSAGE_SELF, &process);
  getrusage(RUSAGE_THREAD, &loop);
  out.counter({"used_cpu_sys", "CPU time in the system.", kSeconds}, seconds(process.ru_stime), 6);
  out.counter({"used_cpu_user", "CPU time in the program.", kSeconds}, seconds(process.ru_utime),
              6);
  out.absent("used_cpu_sys_children", "0.000000");
  out.absent("used_cpu_user_children", "0.000000");
  out.counter({"used_cpu_sys_main_thread", "CPU time of the main thread in the system.", kSeconds},
              seconds(loop.ru_stime), 6);
  out.counter(
      {"used_cpu_user_main_thread", "CPU time of the main thread in the program.", kSeconds},
      seconds(loop.ru_utime), 6);
}

}  // namespace weir::server
