#include "tools/silence_watch/memory_probe.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "tools/silence_watch/spinner.h"

namespace weir::silence {
namespace {

constexpr size_t kOwnWords = (128 << 20) / sizeof(uint64_t);
constexpr size_t kTouches = 16;
constexpr uint64_t kPage = 4096;
constexpr size_t kPagesKept = 1 << 16;
constexpr uint64_t kIsThere = uint64_t{1} << 63;  // of an entry of /proc/PID/pagemap

struct Region {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Memory that no file stands for.
std::vector<Region> regions_of(const std::string& process) {
  std::vector<Region> regions;
  std::ifstream maps(process + "/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0, inode = 0;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%llx-%llx %4s %*s %*s %llu", &begin, &end, rights, &inode) ==
            4 &&
        inode == 0 && rights[0] == 'r' && rights[1] == 'w')
      regions.push_back({.begin = begin, .end = end});
  }
  return regions;
}

}  // namespace

MemoryProbe::MemoryProbe(pid_t watched) : watched_(watched) {
  if (watched != 0) find_pages(watched);
  if (pages_.empty()) words_.resize(kOwnWords, 1);
}

// Pages that are there, drawn from all regions: a page that was never used has nothing to tell.
void MemoryProbe::find_pages(pid_t watched) {
  const std::string process = "/proc/" + std::to_string(watched);
  const int pagemap = ::open((process + "/pagemap").c_str(), O_RDONLY | O_CLOEXEC);
  if (pagemap < 0) return;
  std::array<uint64_t, 512> entries{};
  std::vector<uint64_t> there;
  for (const Region& region : regions_of(process)) {
    for (uint64_t at = region.begin; at < region.end; at += entries.size() * kPage) {
      const size_t wanted = std::min<uint64_t>(entries.size(), (region.end - at) / kPage);
      const ssize_t bytes = ::pread(pagemap, entries.data(), wanted * sizeof entries[0],
                                    static_cast<off_t>(at / kPage * sizeof entries[0]));
      for (ssize_t i = 0; i < bytes / static_cast<ssize_t>(sizeof entries[0]); ++i)
        if (entries[static_cast<size_t>(i)] & kIsThere)
          there.push_back(at + static_cast<uint64_t>(i) * kPage);
    }
  }
  ::close(pagemap);
  for (size_t i = 0; i < std::min(kPagesKept, there.size()); ++i)
    pages_.push_back(there[draw() % there.size()]);
}

// Places follow one another as a linear congruence has them (Knuth's MMIX).
uint64_t MemoryProbe::draw() {
  place_ = place_ * 6364136223846793005 + 1442695040888963407;
  return place_ >> 24;
}

int64_t MemoryProbe::touch_ns() {
  const int64_t begin_ns = now_ns();
  if (pages_.empty()) {
    touch_own();
  } else {
    touch_watched();
  }
  return now_ns() - begin_ns;
}

void MemoryProbe::touch_own() {
  for (size_t i = 0; i < kTouches; ++i) words_[draw() % kOwnWords] += place_;
}

// One that has gone meanwhile ends the reading of those after it, so each is read by itself.
void MemoryProbe::touch_watched() {
  uint64_t word = 0;
  const iovec here{.iov_base = &word, .iov_len = sizeof word};
  for (size_t i = 0; i < kTouches; ++i) {
    const uint64_t page = pages_[draw() % pages_.size()];
    const iovec there{.iov_base = reinterpret_cast<void*>(page), .iov_len = sizeof word};
    (void)::process_vm_readv(watched_, &here, 1, &there, 1, 0);
  }
}

}  // namespace weir::silence
