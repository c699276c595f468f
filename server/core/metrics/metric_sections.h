// The server's metrics in sections, in INFO's order. Each folder writes its own metrics; this file
// says which of them stand in which section, and has those that concern several folders.
//
// Writing them changes nothing, waits for nothing, and reads at most a small sample of the keys.
// Every value is true at the moment of asking.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/command/command.h"
#include "server/report/metrics.h"

namespace weir::storage {
struct KeyspaceMetrics;
}

namespace weir::server {

class Server;

struct MetricSection {
  std::string_view name;   // as INFO is asked for it
  std::string_view title;  // as the heading says it
  bool by_default;         // without arguments, and with "default"
  void (*write)(Server& server, MetricWriter& out);
};

// All sections, in the order in which INFO answers them, whatever the order of asking.
std::span<const MetricSection> metric_sections();

// Answers INFO's text. `wanted`: names of sections, "all", "everything" or "default", in any case;
// none is "default".
std::string info_text(Server& server, Args wanted);

// The unit of most metrics of these sections.
inline constexpr MetricUnit kByteMetric = MetricUnit::kBytes;

// process_metrics.cc
// Answers what entries take of the working set beside their keys and values.
int64_t overhead_bytes(const storage::KeyspaceMetrics& metrics);
void write_server_section(Server& server, MetricWriter& out);
void write_memory_section(Server& server, MetricWriter& out);
void write_cpu_section(Server& server, MetricWriter& out);
// replication_metrics.cc
void write_replication_section(Server& server, MetricWriter& out);
// storage_metrics.cc
void write_persistence_section(Server& server, MetricWriter& out);
void write_weir_section(Server& server, MetricWriter& out);
void write_storage_section(Server& server, MetricWriter& out);
// command_metrics.cc
void write_commandstats_section(Server& server, MetricWriter& out);
void write_latencystats_section(Server& server, MetricWriter& out);
void write_keyspace_section(Server& server, MetricWriter& out);

}  // namespace weir::server
