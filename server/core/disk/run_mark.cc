#include "server/core/disk/run_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "base/one_line.h"
#include "base/utc_text.h"
#include "server/os/plain_file.h"
#include "server/os/version.h"

namespace weir::server {
namespace {

constexpr size_t kMarkBytesMax = 4096;

}  // namespace

std::optional<UncleanEnd> RunMark::begin(int64_t now_s) {
  std::optional<UncleanEnd> last;
  if (storage::file_exists(path_)) {
    std::string text;
    (void)read_plain_file(path_, kMarkBytesMax, "4kb", &text);
    const size_t end = std::min(text.find('\n'), text.size());
    last = UncleanEnd{.run = one_line(std::string_view(text).substr(0, end)),
                      .crash = one_line(std::string_view(text).substr(end))};
  }
  file_ = storage::Descriptor(
      ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0640));
  const std::string line = "weir " + std::string(weir_version()) + ", pid " +
                           std::to_string(::getpid()) + ", since " +
                           utc_text(now_s, "%Y-%m-%dT%H:%M:%SZ") + "\n";
  // On a full disk the file alone says what matters.
  if (file_.ok()) [[maybe_unused]]
    const ssize_t written = ::write(file_.get(), line.data(), line.size());
  return last;
}

void RunMark::end() {
  file_ = storage::Descriptor();
  ::unlink(path_.c_str());
}

}  // namespace weir::server
