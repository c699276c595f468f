// INFO's figures of memory.
#include <malloc.h>

#include <algorithm>
#include <cstdio>

#include "server/core/info.h"
#include "server/core/server.h"
#include "server/os/machine.h"
#include "server/script/functions.h"
#include "server/script/scripts.h"

namespace weir::server {
namespace {

size_t client_bytes(Server& server) {
  size_t bytes = 0;
  for (const auto& [id, session] : server.sessions().all())
    bytes += sizeof(Session) + session->input_capacity() + session->output_capacity();
  return bytes;
}

size_t library_bytes(Server& server) {
  size_t bytes = 0;
  for (const auto& [name, library] : server.scripting().functions.libraries()) {
    bytes += sizeof(script::Library) + name.size() + library->code.size();
    for (const auto& function : library->functions)
      bytes += sizeof function + function.name.size() + function.description.value_or("").size();
  }
  return bytes;
}

void add_scripts(Server& server, InfoWriter& out) {
  const script::ScriptFigures scripts = server.scripting().scripts.figures();
  const size_t functions_vm_bytes = server.scripting().functions.engine_bytes();
  const size_t functions_bytes = library_bytes(server);
  out.add_bytes("used_memory_lua", static_cast<int64_t>(scripts.engine_bytes));
  out.add("used_memory_vm_eval", scripts.engine_bytes);
  out.add("used_memory_scripts_eval", scripts.body_bytes);
  out.add("number_of_cached_scripts", scripts.scripts);
  out.add("number_of_functions", server.scripting().functions.function_count());
  out.add("number_of_libraries", server.scripting().functions.libraries().size());
  out.add("used_memory_vm_functions", functions_vm_bytes);
  out.add_bytes("used_memory_vm_total",
                static_cast<int64_t>(scripts.engine_bytes + functions_vm_bytes));
  out.add("used_memory_functions", functions_bytes);
  out.add_bytes("used_memory_scripts", static_cast<int64_t>(scripts.body_bytes + functions_bytes));
  out.add("evicted_scripts", scripts.evicted);
}

std::string percent_text(double percent) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f%%", percent);
  return text;
}

double ratio(int64_t a, int64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

// What the C library has handed out, and what it holds for that.
void add_allocator(int64_t resident, InfoWriter& out) {
  const struct mallinfo2 heap = mallinfo2();
  const auto allocated = static_cast<int64_t>(heap.uordblks + heap.hblkhd);
  const auto active = static_cast<int64_t>(heap.arena + heap.hblkhd);
  out.add("allocator_allocated", allocated);
  out.add("allocator_active", active);
  out.add("allocator_resident", resident);
  out.add_fixed("allocator_frag_ratio", ratio(active, allocated), 2);
  out.add("allocator_frag_bytes", active - allocated);
  out.add_fixed("allocator_rss_ratio", ratio(resident, active), 2);
  out.add("allocator_rss_bytes", resident - active);
  out.add_fixed("rss_overhead_ratio", 1, 2);
  out.add("rss_overhead_bytes", 0);
}

}  // namespace

// "Used" is what maxmemory bounds: the working set. What else the process holds (the store's
// buffers and cache, clients' buffers, the program) shows in the resident size.
void info_memory(Server& server, InfoWriter& out) {
  const auto used = static_cast<int64_t>(server.keys().figures().bytes);
  const auto peak =
      std::max(used, static_cast<int64_t>(server.report().stats.working_set_bytes_max));
  const int64_t resident = resident_bytes();
  out.add_bytes("used_memory", used);
  out.add_bytes("used_memory_rss", resident);
  out.add_bytes("used_memory_peak", peak);
  out.add("used_memory_peak_perc", percent_text(100 * ratio(used, peak)));
  out.add_bytes("used_memory_rss_peak", peak_resident_bytes());
  out.add("used_memory_overhead", 0);
  out.add("used_memory_startup", 0);
  out.add("used_memory_dataset", used);
  out.add("used_memory_dataset_perc", percent_text(100));
  out.add_bytes("total_system_memory", machine_memory_bytes());
  add_scripts(server, out);
  out.add_bytes("maxmemory", static_cast<int64_t>(server.keys().options().memory_bytes_max));
  out.add("maxmemory_policy", "noeviction");
  out.add_fixed("mem_fragmentation_ratio", ratio(resident, used), 2);
  out.add("mem_fragmentation_bytes", resident - used);
  add_allocator(resident, out);
  out.add_zeros({"mem_not_counted_for_evict", "mem_replication_backlog",
                 "mem_total_replication_buffers", "mem_cluster_links"});
  out.add("mem_clients_slaves", 0);
  out.add("mem_clients_normal", client_bytes(server));
  out.add("mem_aof_buffer", 0);
  out.add("mem_allocator", "libc");
  out.add("active_defrag_running", 0);
  out.add("lazyfree_pending_objects", 0);
}

}  // namespace weir::server
