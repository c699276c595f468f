#include "server/os/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/ascii.h"

namespace weir::server {
namespace {

std::string g_log_file;  // the one global: a process has one log

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return spdlog::level::trace;
    case LogLevel::kDebug:
    case LogLevel::kVerbose:
      return spdlog::level::debug;
    case LogLevel::kNotice:
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kNothing:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

spdlog::level::level_enum spdlog_level(EventLevel level) {
  switch (level) {
    case EventLevel::kDebug:
      return spdlog::level::debug;
    case EventLevel::kInfo:
      return spdlog::level::info;
    case EventLevel::kWarning:
      return spdlog::level::warn;
    case EventLevel::kError:
      return spdlog::level::err;
    case EventLevel::kCritical:
      return spdlog::level::critical;
  }
  return spdlog::level::critical;
}

// Stands for an event's text in the pattern of a line.
class PrintableText : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& line) override {
    const std::string text = log_text({message.payload.data(), message.payload.size()});
    line.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PrintableText>();
  }
};

void install_sink() {
  std::shared_ptr<spdlog::sinks::sink> sink;
  if (g_log_file.empty()) {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  } else {
    sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(g_log_file);
  }
  auto logger = std::make_shared<spdlog::logger>("weir", std::move(sink));
  auto lines = std::make_unique<spdlog::pattern_formatter>();
  lines->add_flag<PrintableText>('*').set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %*");
  logger->set_formatter(std::move(lines));
  logger->set_level(spdlog::default_logger()->level());
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace

std::string log_text(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_printable)) return std::string(text);
  std::string line;
  for (const char c : text)
    line += is_printable(c) ? std::string(1, c) : "\\x" + hex_text({{static_cast<uint8_t>(c)}});
  return line;
}

Result<void, std::string> start_log(const std::string& path, LogLevel level) {
  g_log_file = path;
  auto opened = reopen_log();
  if (opened) set_log_level(level);
  return opened;
}

Result<void, std::string> reopen_log() {
  try {
    install_sink();
  } catch (const spdlog::spdlog_ex& error) {
    return "cannot open the log file '" + g_log_file + "': " + error.what();
  }
  return {};
}

void set_log_level(LogLevel level) { spdlog::default_logger()->set_level(spdlog_level(level)); }

void flush_log() { spdlog::default_logger()->flush(); }

// As spdlog does, it loses a line for which there is no memory.
void write_log(EventLevel level, fmt::string_view format, fmt::format_args args) {
  spdlog::logger& log = *spdlog::default_logger_raw();
  if (!log.should_log(spdlog_level(level))) return;
  try {
    fmt::memory_buffer text;
    fmt::vformat_to(fmt::appender(text), format, args);
    log.log(spdlog_level(level), spdlog::string_view_t(text.data(), text.size()));
  } catch (const std::exception&) {
  }
}

}  // namespace weir::server
