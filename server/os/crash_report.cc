#include "server/os/crash_report.h"

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <iterator>
#include <span>

#include "base/ascii.h"
#include "base/check.h"
#include "base/sanitized.h"
#include "base/time_units.h"
#include "server/os/log.h"
#include "server/os/version.h"

namespace weir::server {
namespace {

constexpr int kFramesMax = 64;
constexpr size_t kStackBytes = 64 << 10;  // of the handler: frames, and registers of some KB
constexpr uintptr_t kFrameBytesMax = 64 << 10;
constexpr size_t kTextBytesMax = 1000;
constexpr size_t kLineBytesMax = kTextBytesMax + 200;  // a text, and what stands around it

struct CrashSignal {
  int number;
  std::string_view name;
};

constexpr CrashSignal kSignals[] = {{SIGSEGV, "SIGSEGV"},
                                    {SIGBUS, "SIGBUS"},
                                    {SIGILL, "SIGILL"},
                                    {SIGFPE, "SIGFPE"},
                                    {SIGABRT, "SIGABRT"}};

// All that the handler looks at. It is written before, by the thread of the loop.
struct CrashFacts {
  pid_t loop_thread = 0;
  std::atomic<RunningName> name = nullptr;
  std::atomic<const void*> named = nullptr;
  std::atomic<int> kept_in = -1;
  std::atomic_flag is_told;
};
CrashFacts g_crash;
alignas(16) char g_crash_stack[kStackBytes];

// A text of bounded length, made without memory. What does not fit is left out.
class CrashText {
 public:
  explicit CrashText(size_t bytes_max = kTextBytesMax) : bytes_max_(bytes_max) {}

  // Other bytes than printable ones, and those that JSON would have escaped, are shown as others.
  CrashText& add(std::string_view text) {
    for (const char c : text) put(!is_printable(c) || c == '\\' ? '?' : c == '"' ? '\'' : c);
    return *this;
  }
  CrashText& raw(std::string_view text) {
    for (const char c : text) put(c);
    return *this;
  }
  CrashText& number(uint64_t value, size_t digits_min = 1) {
    char digits[20];
    size_t count = 0;
    for (; value != 0 || count < digits_min; value /= 10)
      digits[count++] = static_cast<char>('0' + value % 10);
    while (count > 0) put(digits[--count]);
    return *this;
  }
  CrashText& hex(uint64_t value) {
    raw("0x");
    int shift = 60;
    while (shift > 0 && value >> shift == 0) shift -= 4;
    for (; shift >= 0; shift -= 4) put(kHexDigits[value >> shift & 15]);
    return *this;
  }
  // As the log writes instants, in UTC.
  CrashText& now() {
    timespec time{};
    ::clock_gettime(CLOCK_REALTIME, &time);
    const auto days = std::chrono::days(time.tv_sec / kSPerDay);
    const std::chrono::year_month_day date{std::chrono::sys_days(days)};
    const auto second = static_cast<uint64_t>(time.tv_sec % kSPerDay);
    number(static_cast<uint64_t>(static_cast<int>(date.year())), 4).raw("-");
    number(static_cast<unsigned>(date.month()), 2).raw("-");
    number(static_cast<unsigned>(date.day()), 2).raw("T");
    number(second / 3600, 2).raw(":").number(second / 60 % 60, 2).raw(":");
    number(second % 60, 2).raw(".");
    return number(static_cast<uint64_t>(time.tv_nsec / kNsPerMs), 3).raw("+00:00");
  }
  std::string_view view() const { return {bytes_, size_}; }
  void write_to(int descriptor) const {
    for (size_t at = 0; at < size_;) {
      const ssize_t written = ::write(descriptor, bytes_ + at, size_ - at);
      if (written <= 0) return;
      at += static_cast<size_t>(written);
    }
  }

 private:
  void put(char c) {
    if (size_ < bytes_max_) bytes_[size_++] = c;
  }

  const size_t bytes_max_;
  char bytes_[kLineBytesMax];
  size_t size_ = 0;
};

void write_line(int descriptor, LogFormat format, bool has_priority, const CrashText& text) {
  CrashText line(kLineBytesMax);
  if (has_priority) line.raw("<2>");
  if (format == LogFormat::kJson) {
    line.raw("{\"time\":\"").now().raw("\",\"level\":\"critical\",\"message\":\"crash: ");
    line.raw(text.view()).raw("\"}\n");
  } else {
    line.now().raw(" critical crash: ").raw(text.view()).raw("\n");
  }
  line.write_to(descriptor);
}

void tell(const CrashText& text) {
  const LogTarget log = log_target();
  write_line(log.descriptor, log.format, log.has_priorities, text);
  if (log.descriptor != STDERR_FILENO) write_line(STDERR_FILENO, LogFormat::kText, false, text);
}

std::string_view signal_name(int number) {
  for (const CrashSignal& signal : kSignals) {
    if (signal.number == number) return signal.name;
  }
  return "?";
}

void* program_counter(const ucontext_t& context) {
#if defined(__x86_64__)
  return reinterpret_cast<void*>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<void*>(context.uc_mcontext.pc);
#else
  return static_cast<void>(context), nullptr;
#endif
}

// 0: it is not known.
uintptr_t stack_pointer(const ucontext_t& context) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return context.uc_mcontext.sp;
#else
  return static_cast<void>(context), 0;
#endif
}

// Of a function that has just been called. Where there is no stack it ends the process.
void* return_address(const ucontext_t& context) {
#if defined(__x86_64__)
  return *reinterpret_cast<void* const*>(stack_pointer(context));
#elif defined(__aarch64__)
  return reinterpret_cast<void*>(context.uc_mcontext.regs[30]);
#else
  return static_cast<void>(context), nullptr;
#endif
}

// A function that finds no room for its own frame writes just below or above where the stack ends.
bool is_about_stack(const siginfo_t& info, const ucontext_t& context) {
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  const uintptr_t stack = stack_pointer(context);
  return info.si_signo == SIGSEGV && stack != 0 && address + kFrameBytesMax > stack &&
         address < stack + kFrameBytesMax;
}

void tell_signal(const siginfo_t& info, const ucontext_t& context) {
  CrashText text;
  text.raw("signal ").number(static_cast<uint64_t>(info.si_signo)).raw(" (");
  text.raw(signal_name(info.si_signo)).raw("), ");
  if (info.si_code <= 0) {
    if (info.si_pid == ::getpid()) {
      text.raw("sent by itself");
    } else {
      text.raw("sent by process ").number(static_cast<uint64_t>(info.si_pid));
    }
  } else {
    if (is_about_stack(info, context)) {
      text.raw("the stack has no room left");
    } else if (info.si_signo == SIGSEGV && info.si_code == SEGV_MAPERR) {
      text.raw("no such address");
    } else if (info.si_signo == SIGSEGV && info.si_code == SEGV_ACCERR) {
      text.raw("an address that may not be used so");
    } else {
      text.raw("code ").number(static_cast<uint64_t>(info.si_code));
    }
    text.raw(": ").hex(reinterpret_cast<uintptr_t>(info.si_addr));
  }
  text.raw("; weir ").add(weir_version()).raw(", build ").add(build_id());
  tell(text.raw(", pid ").number(static_cast<uint64_t>(::getpid())));
}

std::string_view what_runs() {
  const RunningName name = g_crash.name;
  return name == nullptr ? std::string_view() : name(g_crash.named);
}

// What the loop runs, whichever thread it is that has crashed.
void add_what_runs(CrashText* text) {
  const std::string_view name = what_runs();
  if (name.empty()) {
    text->raw("no command ran");
  } else {
    text->raw("the command that ran is ").add(name);
  }
}

void tell_what_runs() {
  CrashText text;
  add_what_runs(&text);
  if (::gettid() != g_crash.loop_thread) text.raw("; it is another thread that has crashed");
  tell(text);
  const char* why = broken_check_line;
  if (why != nullptr) tell(CrashText().add(why));
}

void tell_frame(uint64_t number, void* address) {
  CrashText text;
  text.raw("frame ").number(number).raw(": ");
  const auto at = reinterpret_cast<uintptr_t>(address);
  Dl_info info{};
  if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return tell(text.hex(at));
  const char* slash = std::strrchr(info.dli_fname, '/');
  text.add(slash == nullptr ? info.dli_fname : slash + 1).raw("+");
  text.hex(at - reinterpret_cast<uintptr_t>(info.dli_fbase));
  if (info.dli_sname != nullptr) {
    text.raw(" (").add(info.dli_sname).raw("+");
    text.hex(at - reinterpret_cast<uintptr_t>(info.dli_saddr)).raw(")");
  }
  tell(text);
}

// The first frames are those of this handler.
void tell_frames(const ucontext_t& context) {
  void* frames[kFramesMax];
  const std::span all(frames, static_cast<size_t>(::backtrace(frames, kFramesMax)));
  size_t first = 0;
  while (first < all.size() && all[first] != program_counter(context)) ++first;
  for (size_t at = first; at < all.size(); ++at) tell_frame(at - first, all[at]);
  if (first < all.size()) return;
  // A call of what is no function: where it came from is all that there is.
  tell_frame(0, program_counter(context));
  tell_frame(1, return_address(context));
}

void keep_line(int signal) {
  const int kept_in = g_crash.kept_in;
  if (kept_in < 0) return;
  CrashText line;
  line.raw("signal ").number(static_cast<uint64_t>(signal)).raw(" (").raw(signal_name(signal));
  line.raw(") at ").now().raw("; ");
  add_what_runs(&line);
  line.raw("\n").write_to(kept_in);
}

// Two threads may crash at once: the second one waits for the end that the first one makes.
void on_crash(int signal, siginfo_t* info, void* context) {
  if (g_crash.is_told.test_and_set()) {
    while (true) ::pause();
  }
  const auto& state = *static_cast<const ucontext_t*>(context);
  keep_line(signal);
  tell_signal(*info, state);
  tell_what_runs();
  tell_frames(state);
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
  // It comes when this handler has returned, so the core has the registers of the crash.
  ::raise(signal);
}

// Finds the note of the program itself, which is the first that glibc tells of.
int read_build_id(dl_phdr_info* module, size_t, void* text) {
  for (const ElfW(Phdr) & part : std::span(module->dlpi_phdr, module->dlpi_phnum)) {
    if (part.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const uint8_t*>(module->dlpi_addr + part.p_vaddr);
    const uint8_t* const end = at + part.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const auto padded = [](size_t bytes) { return (bytes + 3) / 4 * 4; };
      const uint8_t* const name = at + sizeof note;
      const uint8_t* const value = name + padded(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
          std::memcmp(name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
        *static_cast<std::string*>(text) = hex_text({value, note.n_descsz});
        return 1;
      }
      at = value + padded(note.n_descsz);
    }
  }
  return 1;
}

}  // namespace

const std::string& build_id() {
  static const std::string id = [] {
    std::string text;
    ::dl_iterate_phdr(read_build_id, &text);
    return text;
  }();
  return id;
}

void report_crashes() {
  if (kIsSanitized) return;
  (void)build_id();
  void* frame[1];
  ::backtrace(frame, std::size(frame));  // what it needs is loaded now
  g_crash.loop_thread = ::gettid();
  const stack_t stack{.ss_sp = g_crash_stack, .ss_flags = 0, .ss_size = sizeof g_crash_stack};
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  for (const CrashSignal& signal : kSignals) ::sigaddset(&action.sa_mask, signal.number);
  for (const CrashSignal& signal : kSignals) ::sigaction(signal.number, &action, nullptr);
}

void ask_what_runs(RunningName name, const void* of) {
  g_crash.named = of;
  g_crash.name = name;
}

void keep_crash_line_in(int descriptor) { g_crash.kept_in = descriptor; }

}  // namespace weir::server
