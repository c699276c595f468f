#include "server/offline/import_tally.h"

#include <sys/stat.h>

#include <cstring>
#include <sstream>

#include "base/ascii.h"
#include "server/core/disk/contents.h"
#include "server/offline/progress.h"
#include "server/os/plain_file.h"
#include "server/os/replace_file.h"

namespace weir::server {
namespace {

constexpr std::string_view kFirstLine = "weir import 1";
constexpr size_t kFileBytesMax = 1 << 20;
constexpr size_t kReasonsMax = 100;
constexpr size_t kReasonBytesMax = 300;

// One word without blanks; "%" alone stands for no bytes.
std::string encoded(std::string_view bytes) {
  std::string word;
  for (const char c : bytes) {
    if (is_printable(c) && c != ' ' && c != '%') {
      word += c;
      continue;
    }
    const auto byte = static_cast<uint8_t>(c);
    word += '%';
    word += kHexDigits[byte >> 4];
    word += kHexDigits[byte & 15];
  }
  return word.empty() ? "%" : word;
}

std::string decoded(std::string_view word) {
  std::string bytes;
  for (size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%' || i + 2 >= word.size()) {
      if (word[i] != '%') bytes += word[i];
      continue;
    }
    const size_t high = kHexDigits.find(word[i + 1]);
    const size_t low = kHexDigits.find(word[i + 2]);
    bytes += static_cast<char>((high & 15) << 4 | (low & 15));
    i += 2;
  }
  return bytes;
}

std::string source_of(const ImportOptions& options) {
  return options.source.shown() +
         (options.source.database < 0 ? "" : "/" + std::to_string(options.source.database));
}

// What must be the same for an import to be resumed.
std::string identity(const ImportOptions& options) {
  return std::to_string(options.replace) + " " + encoded(options.match);
}

}  // namespace

void ImportTally::refuse(std::string_view key, const std::string& reason) {
  const std::string why_plain = plain(reason);
  std::string why = why_plain.substr(0, kReasonBytesMax);
  if (refused.size() >= kReasonsMax && !refused.contains(why)) why = "other reasons";
  Refused& of_reason = refused[why];
  if (of_reason.keys++ == 0) of_reason.example = key.substr(0, kReasonBytesMax);
}

uint64_t ImportTally::refused_keys() const {
  uint64_t keys = 0;
  for (const auto& [reason, of_reason] : refused) keys += of_reason.keys;
  return keys;
}

std::string ImportTally::report() const {
  std::string text = "copied: " + std::to_string(copied) + " keys, " + size_text(bytes) + "\n";
  if (left != 0) text += "left alone, because weir has them: " + std::to_string(left) + " keys\n";
  if (gone != 0) text += "ended while they were copied: " + std::to_string(gone) + " keys\n";
  for (const auto& [reason, of_reason] : refused)
    text += "not taken: " + std::to_string(of_reason.keys) + " keys, such as " +
            shown(of_reason.example) + ": " + reason + "\n";
  return text;
}

Result<void, std::string> keep_tally(const ImportOptions& options, const std::string& run_id,
                                     const ImportTally& tally) {
  std::ostringstream text;
  text << kFirstLine << "\nof " << source_of(options) << ' ' << run_id << ' ' << identity(options)
       << "\nat " << tally.database << ' ' << tally.cursor << "\ncopied " << tally.copied << ' '
       << tally.bytes << "\nleft " << tally.left << "\ngone " << tally.gone << '\n';
  for (const auto& [reason, of_reason] : tally.refused)
    text << "refused " << of_reason.keys << ' ' << encoded(of_reason.example) << ' ' << reason
         << '\n';
  if (const int error = replace_file(options.progress, text.str()); error != 0)
    return "cannot write " + options.progress + ": " + std::strerror(error);
  return {};
}

Result<void, std::string> resume_tally(const ImportOptions& options, const std::string& run_id,
                                       ImportTally* tally) {
  struct stat found {};
  if (::stat(options.progress.c_str(), &found) != 0 && errno == ENOENT) return {};
  std::string text;
  if (auto read = read_plain_file(options.progress, kFileBytesMax, "1 MB", &text); !read)
    return read;
  const std::string wrong = options.progress + " is no file of an import's progress";
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != kFirstLine) return wrong;
  std::string source;
  std::string run;
  bool is_whole = false;
  ImportTally read;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "of") {
      std::string rest;
      words >> source >> run >> std::ws;
      std::getline(words, rest);
      if (source != source_of(options) || rest != identity(options))
        return options.progress + " is of another import: of " + source +
               ", or with another pattern or --import-replace; name another file, or remove it";
    } else if (name == "at") {
      words >> read.database >> read.cursor;
      is_whole = !words.fail();
    } else if (name == "copied") {
      words >> read.copied >> read.bytes;
    } else if (name == "left") {
      words >> read.left;
    } else if (name == "gone") {
      words >> read.gone;
    } else if (name == "refused") {
      uint64_t keys = 0;
      std::string example;
      std::string reason;
      words >> keys >> example >> std::ws;
      std::getline(words, reason);
      read.refused[reason] = {keys, decoded(example)};
    } else {
      return wrong;
    }
  }
  if (!is_whole || source.empty()) return wrong;
  *tally = std::move(read);
  // Who may not ask INFO cannot know whether it is the same process, whose cursors count.
  if (run != run_id || run == "-") tally->cursor = "0";
  return {};
}

}  // namespace weir::server
