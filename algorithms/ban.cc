#include "algorithms/ban.h"

#include <algorithm>

#include "algorithms/instant.h"
#include "algorithms/rate_text.h"
#include "algorithms/words.h"
#include "base/ascii.h"
#include "base/check.h"

namespace weir::algorithms {
namespace {

void forget_old(const Ban& ban, BanState& state, int64_t now_ns) {
  const auto young =
      std::upper_bound(state.denials.begin(), state.denials.end(), now_ns - ban.within_ns);
  state.denials.erase(state.denials.begin(), young);
}

std::string given(std::string_view text) { return text.empty() ? "nothing" : shown(text); }

Result<int64_t, RangeError> duration_after(std::string_view name, std::string_view text) {
  const auto duration_ns = parse_duration(text);
  if (!duration_ns) {
    return RangeError{std::string(name), given(text), std::string(kDurationForm)};
  }
  if (*duration_ns >= kPeriodNsMin && *duration_ns <= kPeriodNsMax) return *duration_ns;
  return RangeError{std::string(name), shown(text), between_durations(kPeriodNsMin, kPeriodNsMax)};
}

}  // namespace

int64_t ban_rest(const BanState& state, int64_t now_ns) {
  return std::max<int64_t>(0, state.until_ns - now_ns);
}

bool count_denial(const Ban& ban, BanState& state, int64_t now_ns) {
  WEIR_REQUIRE(ban.is_set() && ban_rest(state, now_ns) == 0);
  now_ns = clamp_instant(now_ns);
  if (!state.denials.empty()) now_ns = std::max(now_ns, state.denials.back());
  state.until_ns = 0;
  forget_old(ban, state, now_ns);
  state.denials.push_back(now_ns);
  if (static_cast<int64_t>(state.denials.size()) < ban.after) return false;
  state = {.until_ns = now_ns + ban.for_ns};
  return true;
}

int64_t ban_expires_at_ns(const Ban& ban, const BanState& state) {
  if (state.denials.empty()) return state.until_ns;
  return std::max(state.until_ns, state.denials.back() + ban.within_ns);
}

void follow_ban(const Ban& ban, BanState& state, int64_t now_ns) {
  if (ban_rest(state, now_ns) == 0) state.until_ns = 0;
  const size_t most = ban.is_set() ? static_cast<size_t>(ban.after) - 1 : 0;
  const size_t extra = state.denials.size() > most ? state.denials.size() - most : 0;
  state.denials.erase(state.denials.begin(),
                      state.denials.begin() + static_cast<std::ptrdiff_t>(extra));
}

bool begins_ban(std::span<const std::string_view> words) {
  return !words.empty() && equals_ignoring_case(words[0], "BAN");
}

Result<Ban, RangeError> parse_ban(std::span<const std::string_view> words) {
  const auto word = [&](size_t at) { return at < words.size() ? words[at] : std::string_view(); };
  const auto for_ns = duration_after("BAN", word(1));
  if (!for_ns) return for_ns.error();
  if (!equals_ignoring_case(word(2), "AFTER") || !equals_ignoring_case(word(4), "WITHIN")) {
    const size_t wrong = equals_ignoring_case(word(2), "AFTER") ? 4 : 2;
    return RangeError{"BAN", shown_together(words.first(std::min(words.size(), wrong + 1))),
                      "written BAN duration AFTER n WITHIN duration"};
  }
  const auto after = parse_number(word(3));
  if (!after || *after < 1 || *after > kBanAfterMax) {
    return RangeError{"AFTER", given(word(3)), "an integer " + between(1, kBanAfterMax)};
  }
  const auto within_ns = duration_after("WITHIN", word(5));
  if (!within_ns) return within_ns.error();
  return Ban{.for_ns = *for_ns, .within_ns = *within_ns, .after = *after};
}

std::string format_ban(const Ban& ban) {
  if (!ban.is_set()) return {};
  return "BAN " + format_duration(ban.for_ns) + " AFTER " + std::to_string(ban.after) + " WITHIN " +
         format_duration(ban.within_ns);
}

}  // namespace weir::algorithms
