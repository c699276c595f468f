// What INFO answers: sections of "name:value" lines, every value true at the moment of asking.
//
// It changes nothing, waits for nothing, and reads at most a small sample of the keys.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "server/command/command.h"

namespace weir::server {

class Server;

// Collects lines; a section's heading is written by whoever calls the section.
class InfoWriter {
 public:
  void heading(std::string_view title);
  void add(std::string_view name, std::string_view value);
  void add(std::string_view name, std::integral auto value) {
    add(name, std::string_view(std::to_string(value)));
  }
  void add_fixed(std::string_view name, double value, int decimals);
  // Figures of what Redis has and weir has not, which monitoring asks for.
  void add_zeros(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) add(name, 0);
  }
  // "name:1536" and "name_human:1.50K".
  void add_bytes(std::string_view name, int64_t bytes);

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

struct InfoSection {
  std::string_view name;   // as INFO is asked for it
  std::string_view title;  // as the heading says it
  bool by_default;         // without arguments, and with "default"
  void (*write)(Server& server, InfoWriter& out);
};

// In the order in which they are answered, whatever the order of asking.
std::span<const InfoSection> info_sections();

// `wanted`: names of sections, "all", "everything" or "default", in any case; none is "default".
std::string info_text(Server& server, Args wanted);

// info_storage.cc
void info_weir(Server& server, InfoWriter& out);
void info_limiter(Server& server, InfoWriter& out);
void info_storage(Server& server, InfoWriter& out);
// info_memory.cc
void info_memory(Server& server, InfoWriter& out);
// info_commandstats.cc
void info_commandstats(Server& server, InfoWriter& out);
void info_errorstats(Server& server, InfoWriter& out);
void info_latencystats(Server& server, InfoWriter& out);
void info_keyspace(Server& server, InfoWriter& out);

}  // namespace weir::server
