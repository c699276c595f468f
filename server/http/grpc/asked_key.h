// What a descriptor of a request asks: which key, and which limits it has there; and the words of a
// command that takes from several.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/http/grpc/rate_limit_messages.h"
#include "server/http/grpc/status.h"
#include "server/limiter/policy/descriptor_rules.h"

namespace weir::server::grpc {

using Words = std::vector<std::string>;

// RL.MTAKE takes no more; neither may the other ways be more work.
inline constexpr size_t kKeysMax = 16;

struct AskedKey {
  std::string key = {};
  Words limits = {};      // POLICY with a name, or a limit
  std::string name = {};  // of the policy
  const DescriptorRule* rule = nullptr;
  // A limit of 0, of that unit: nobody has the permits. `limits` is one of 1 then, of which 2 are
  // to be asked, so that rights are checked as for any other.
  std::optional<Unit> closed = {};
};
inline constexpr int64_t kClosedCost = 2;

// Nothing: no rule is for the descriptor, and it has no limit of its own that is used here. Adds to
// `passed` as DescriptorRules::find() does.
Result<std::optional<AskedKey>, Status> asked_key(const Descriptor& descriptor,
                                                  std::string_view domain,
                                                  const DescriptorRules& rules, size_t* passed);

struct Charge {
  std::string_view key;
  const Words* limits = nullptr;
  int64_t cost = 0;
};

// RL.TAKE of one key, RL.MTAKE of several, without options.
Words take_words(const std::vector<Charge>& charges);
// RL.PEEK: whether one permit would be granted.
Words peek_words(const Charge& charge);

}  // namespace weir::server::grpc
