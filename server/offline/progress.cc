#include "server/offline/progress.h"

#include <unistd.h>

#include <cstdio>

#include "base/time_units.h"

namespace weir::server {
namespace {

constexpr int64_t kBetweenNs = 200 * kNsPerMs;
constexpr size_t kBarCells = 24;

void write_all(int descriptor, const std::string& text) {
  [[maybe_unused]] const ssize_t written = ::write(descriptor, text.data(), text.size());
}

}  // namespace

Progress::Progress(Clock* clock, int descriptor)
    : clock_(*clock),
      descriptor_(descriptor >= 0                ? descriptor
                  : ::isatty(STDERR_FILENO) == 1 ? STDERR_FILENO
                                                 : -1) {}

bool Progress::is_due() {
  return descriptor_ >= 0 && (shown_ns_ == 0 || clock_.steady_ns() - shown_ns_ >= kBetweenNs);
}

std::string Progress::left(uint64_t done, uint64_t all) const {
  const int64_t taken_ns = clock_.steady_ns() - begun_ns_;
  if (done == 0 || done >= all || taken_ns < kNsPerS) return "";
  const double seconds = static_cast<double>(taken_ns) / kNsPerS * static_cast<double>(all - done) /
                         static_cast<double>(done);
  return ", " + std::to_string(static_cast<int64_t>(seconds) + 1) + " s left";
}

void Progress::show(const std::string& what, uint64_t done, uint64_t all, const std::string& rest) {
  if (descriptor_ < 0) return;
  if (what != what_) {
    what_ = what;
    begun_ns_ = clock_.steady_ns();
  }
  shown_ns_ = clock_.steady_ns();
  std::string line = "\r\x1b[K" + what;
  if (all != 0) {
    done = done < all ? done : all;
    const auto cells =
        static_cast<size_t>(static_cast<double>(done) * kBarCells / static_cast<double>(all));
    char percent[16];
    std::snprintf(percent, sizeof percent, " %3d %% ",
                  static_cast<int>(static_cast<double>(done) * 100 / static_cast<double>(all)));
    line += " [" + std::string(cells, '#') + std::string(kBarCells - cells, '.') + "]" + percent;
  }
  write_all(descriptor_, line + " " + rest + left(done, all));
  is_shown_ = true;
}

void Progress::clear() {
  if (is_shown_) write_all(descriptor_, "\r\x1b[K");
  is_shown_ = false;
}

std::string size_text(uint64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " bytes";
  constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  auto size = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  while (size >= 999.95 && unit + 1 < std::size(kUnits)) {
    size /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", size, kUnits[unit]);
  return text;
}

}  // namespace weir::server
