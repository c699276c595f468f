#include "server/os/log.h"

#include <fcntl.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "base/ascii.h"

namespace weir::server {
namespace {

// The one global: a process has one log. What a signal handler reads of it is atomic.
struct TheLog {
  std::string file;
  std::atomic<LogFormat> format = LogFormat::kText;
  // For who writes past spdlog. It is opened beside spdlog's own, which is not to be had.
  std::atomic<int> descriptor = STDERR_FILENO;
  std::atomic<bool> has_priorities = false;
};
TheLog g_log;

constexpr std::string_view kTextPattern = "%*%Y-%m-%dT%H:%M:%S.%e%z %l %v";
constexpr std::string_view kJsonPattern =
    "%*{\"time\":\"%Y-%m-%dT%H:%M:%S.%e%z\",\"level\":\"%l\",%v}";

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

// sd-daemon(3) has the numbers.
std::string_view priority_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::critical:
      return "<2>";
    case spdlog::level::err:
      return "<3>";
    case spdlog::level::warn:
      return "<4>";
    case spdlog::level::info:
      return "<6>";
    default:
      return "<7>";
  }
}

// The journal tells by JOURNAL_STREAM which file it has given to the service as its stderr; what
// has been redirected since is another one.
bool is_journal(int descriptor) {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  if (stream == nullptr || ::fstat(descriptor, &status) != 0) return false;
  return stream == std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

// Stands for the priority in the pattern of a line.
class Priority : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& line) override {
    if (!g_log.has_priorities) return;
    const std::string_view text = priority_of(message.level);
    line.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<Priority>();
  }
};

// A word stands bare, as it is read best; all else between quotes.
bool is_word(std::string_view text) {
  const auto fits = [](char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view("_.:/@|+-*").find(c) != std::string_view::npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

std::string in_quotes(std::string_view text) {
  std::string line = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') line += '\\';
    line += c;
  }
  return line + '"';
}

// What follows time and level in the pattern: all of it is printable.
std::string payload_of(std::string_view text, std::span<const LogField> fields) {
  const bool is_json = g_log.format == LogFormat::kJson;
  std::string line = is_json ? "\"message\":" + in_quotes(log_text(text)) : log_text(text);
  for (const auto& [name, value] : fields) {
    if (is_json) {
      line.append(",").append(in_quotes(name)).append(":").append(in_quotes(log_text(value)));
    } else {
      line.append(" ").append(name).append("=");
      line += is_word(value) ? value : log_text(in_quotes(value));
    }
  }
  return line;
}

bool is_same_file(int one, int other) {
  struct stat first {};
  struct stat second {};
  return ::fstat(one, &first) == 0 && ::fstat(other, &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// Who writes past spdlog goes on in the file that is open now, if it cannot be opened once more.
// Answers whether it is another file now.
bool open_descriptor() {
  g_log.has_priorities = g_log.file.empty() && is_journal(STDERR_FILENO);
  int opened = STDERR_FILENO;
  if (!g_log.file.empty()) opened = ::open(g_log.file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (opened < 0) return false;
  const int before = g_log.descriptor.exchange(opened);
  const bool is_other = !is_same_file(opened, before);
  if (before != STDERR_FILENO) ::close(before);
  return is_other;
}

// Answers whether it is another file now.
bool install_sink() {
  std::shared_ptr<spdlog::sinks::sink> sink;
  if (g_log.file.empty()) {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  } else {
    sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(g_log.file);
  }
  const bool is_other = open_descriptor();
  auto logger = std::make_shared<spdlog::logger>("weir", std::move(sink));
  auto lines = std::make_unique<spdlog::pattern_formatter>();
  const bool is_json = g_log.format == LogFormat::kJson;
  lines->add_flag<Priority>('*').set_pattern(std::string(is_json ? kJsonPattern : kTextPattern));
  logger->set_formatter(std::move(lines));
  logger->set_level(spdlog::default_logger()->level());
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
  return is_other;
}

}  // namespace

std::string log_text(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_printable)) return std::string(text);
  std::string line;
  for (const char c : text)
    line += is_printable(c) ? std::string(1, c) : "\\x" + hex_text({{static_cast<uint8_t>(c)}});
  return line;
}

Result<void, std::string> start_log(const std::string& path, LogLevel level, LogFormat format) {
  g_log.file = path;
  g_log.format = format;
  const auto opened = reopen_log();
  if (!opened) return opened.error();
  set_log_level(level);
  return {};
}

Result<Reloaded, std::string> reopen_log() {
  try {
    return install_sink() ? Reloaded::kNew : Reloaded::kSame;
  } catch (const spdlog::spdlog_ex& error) {
    return "cannot open the log file '" + g_log.file + "': " + error.what();
  }
}

void set_log_level(LogLevel level) { spdlog::default_logger()->set_level(spdlog_level(level)); }

void flush_log() { spdlog::default_logger()->flush(); }

std::string_view stderr_priority(EventLevel level) {
  return is_journal(STDERR_FILENO) ? priority_of(spdlog_level(level)) : std::string_view();
}

LogTarget log_target() {
  return {.descriptor = g_log.descriptor,
          .format = g_log.format,
          .has_priorities = g_log.has_priorities};
}

// As spdlog does, it loses a line for which there is no memory.
void write_log(EventLevel level, fmt::string_view format, fmt::format_args args) {
  spdlog::logger& log = *spdlog::default_logger_raw();
  if (!log.should_log(spdlog_level(level))) return;
  try {
    fmt::memory_buffer text;
    fmt::vformat_to(fmt::appender(text), format, args);
    const std::string payload = payload_of({text.data(), text.size()}, {});
    log.log(spdlog_level(level), spdlog::string_view_t(payload));
  } catch (const std::exception&) {
  }
}

void log_always(EventLevel level, std::string_view text, std::span<const LogField> fields) {
  spdlog::logger& log = *spdlog::default_logger_raw();
  if (log.level() == spdlog::level::off) return;
  try {
    const std::string payload = payload_of(text, fields);
    const spdlog::details::log_msg line(log.name(), spdlog_level(level), payload);
    for (const spdlog::sink_ptr& sink : log.sinks()) {
      sink->log(line);
      sink->flush();
    }
  } catch (const std::exception&) {
  }
}

}  // namespace weir::server
