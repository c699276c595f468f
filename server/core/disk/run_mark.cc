#include "server/core/disk/run_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <system_error>
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
  // What a link leads to is no mark of weir's, and nobody's to read in its log.
  std::error_code unknown;
  if (std::filesystem::is_regular_file(std::filesystem::symlink_status(path_, unknown))) {
    std::string text;
    (void)read_plain_file(path_, kMarkBytesMax, "4kb", &text);
    const size_t end = std::min(text.find('\n'), text.size());
    last = UncleanEnd{.run = one_line(std::string_view(text).substr(0, end)),
                      .crash = one_line(std::string_view(text).substr(end))};
  }
  file_ = storage::open_own_file(path_, O_WRONLY | O_TRUNC | O_APPEND, 0640,
                                 storage::LinksThere::kAreReplaced);
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
