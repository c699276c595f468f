// RL.POLICY SET, OVERRIDE and DEL in the model, and RL.TAKE under a policy. Policies are UNLIMITED
// or BLOCKED: what limits do is the matter of model_rl.cc.
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/model.h"

namespace weir::simulation {
namespace {

std::string scope_of(const std::string& kind, const std::string& name) { return kind + " " + name; }

// The key's own override comes before that of the longest prefix, and that before the policy.
const std::string& effect_for(const Policy& policy, const std::string& key) {
  const auto own = policy.overrides.find(scope_of("KEY", key));
  if (own != policy.overrides.end()) return own->second;
  for (size_t size = key.size(); size > 0; --size) {
    const auto found = policy.overrides.find(scope_of("PREFIX", key.substr(0, size)));
    if (found != policy.overrides.end()) return found->second;
  }
  return policy.effect;
}

Expected override_policy(const Step& step, const std::string& name) {
  const auto found = step.model.policies.find(name);
  if (found == step.model.policies.end()) return error("ERR no policy is named");
  auto& overrides = found->second.overrides;
  const std::string scope = scope_of(step.args[3], step.args[4]);
  if (step.args[5] == "DEL") return number(static_cast<int64_t>(overrides.erase(scope)));
  overrides[scope] = step.args[5];
  return status("OK");
}

Expected change_policy(const Step& step) {
  const std::string& what = step.args[1];
  const std::string& name = step.args[2];
  if (what == "OVERRIDE") return override_policy(step, name);
  if (what == "DEL") return number(static_cast<int64_t>(step.model.policies.erase(name)));
  step.model.policies[name].effect = step.args[3];
  return status("OK");
}

}  // namespace

Expected take_by_policy(const Step& step) {
  const auto policy = step.model.policies.find(step.args[3]);
  if (policy == step.model.policies.end()) return error("ERR ");
  const bool allowed = effect_for(policy->second, step.args[1]) == "UNLIMITED";
  constexpr int64_t kUnlimited[] = {1, -1, -1, 0, 0, -1};
  constexpr int64_t kBlocked[] = {0, 0, 0, -1, -1, -1};
  std::vector<resp::Value> integers;
  for (const int64_t each : allowed ? kUnlimited : kBlocked) integers.push_back(integer(each));
  return exactly(array(std::move(integers)));
}

RunInModel policy_in_model(std::string_view name) {
  return name == "RL.POLICY" ? change_policy : nullptr;
}

}  // namespace weir::simulation
