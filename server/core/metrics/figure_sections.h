// The server's figures in sections, in INFO's order. Each folder writes its own figures; this file
// says which of them stand in which section, and has those that concern several folders.
//
// Writing them changes nothing, waits for nothing, and reads at most a small sample of the keys.
// Every value is true at the moment of asking.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/command/command.h"
#include "server/report/figures.h"

namespace weir::storage {
struct KeyspaceFigures;
}

namespace weir::server {

class Server;

struct FigureSection {
  std::string_view name;   // as INFO is asked for it
  std::string_view title;  // as the heading says it
  bool by_default;         // without arguments, and with "default"
  void (*write)(Server& server, FigureWriter& out);
};

// All sections, in the order in which INFO answers them, whatever the order of asking.
std::span<const FigureSection> figure_sections();

// Answers INFO's text. `wanted`: names of sections, "all", "everything" or "default", in any case;
// none is "default".
std::string info_text(Server& server, Args wanted);

// The unit of most figures of these sections.
inline constexpr FigureUnit kByteFigure = FigureUnit::kBytes;

// process_figures.cc
// Answers what entries take of the working set beside their keys and values.
int64_t overhead_bytes(const storage::KeyspaceFigures& figures);
void write_server_section(Server& server, FigureWriter& out);
void write_memory_section(Server& server, FigureWriter& out);
void write_cpu_section(Server& server, FigureWriter& out);
// replication_figures.cc
void write_replication_section(Server& server, FigureWriter& out);
// storage_figures.cc
void write_persistence_section(Server& server, FigureWriter& out);
void write_weir_section(Server& server, FigureWriter& out);
void write_storage_section(Server& server, FigureWriter& out);
// command_figures.cc
void write_commandstats_section(Server& server, FigureWriter& out);
void write_latencystats_section(Server& server, FigureWriter& out);
void write_keyspace_section(Server& server, FigureWriter& out);

}  // namespace weir::server
