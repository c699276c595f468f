// The endpoints about policies: read, written, overridden, counted.
#include "server/http/v1/endpoints.h"
#include "server/http/v1/members.h"

namespace weir::server::http {
namespace {

using enum FieldKind;

// Answers.

constexpr AnswerField kPolicyFields[] = {
    {"limits", kText}, {"onchange", kText}, {"version", kInteger}};
constexpr Shape kPolicyShape = {"Policy", kPolicyFields};
constexpr AnswerField kNamesFields[] = {{"policies", kTexts}};
constexpr Shape kNamesShape = {"PolicyNames", kNamesFields};

constexpr AnswerField kOverrideFields[] = {{"scope", kText}, {"name", kBytes}, {"limits", kText}};
constexpr Shape kOverrideShape = {"Override", kOverrideFields};
constexpr AnswerField kOverridesFields[] = {{"cursor", kText},
                                            {"overrides", kTuples, &kOverrideShape}};
constexpr Shape kOverridesShape = {"Overrides", kOverridesFields};

constexpr AnswerField kStatsFields[] = {
    {"granted", kInteger}, {"denied", kInteger}, {"shadow_denied", kInteger}};
constexpr Shape kStatsShape = {"PolicyStats", kStatsFields};
constexpr AnswerField kNamedStatsFields[] = {
    {"policy", kBytes}, {"granted", kInteger}, {"denied", kInteger}, {"shadow_denied", kInteger}};
constexpr Shape kNamedStatsShape = {"NamedPolicyStats", kNamedStatsFields};
constexpr AnswerField kAllStatsFields[] = {{"policies", kNamed, &kNamedStatsShape}};
constexpr Shape kAllStatsShape = {"AllPolicyStats", kAllStatsFields};

constexpr AnswerField kChangeFields[] = {
    {"time_ms", kInteger}, {"user", kBytes}, {"before", kBytesOrNull}};
constexpr Shape kChangeShape = {"PolicyChange", kChangeFields};
constexpr AnswerField kHistoryFields[] = {{"changes", kObjects, &kChangeShape}};
constexpr Shape kHistoryShape = {"PolicyHistory", kHistoryFields};
constexpr AnswerField kReloadFields[] = {{"lines", kTexts}};
constexpr Shape kReloadShape = {"PolicyReload", kReloadFields};

// Bodies.

constexpr Member kEffectMember = {
    .name = "limits",
    .kind = MemberKind::kLimits,
    .must = true,
    .about = "Limits in the words of RL.POLICY SET, or UNLIMITED or BLOCKED."};
constexpr Member kShadowedMember = {.name = "shadow",
                                    .kind = MemberKind::kFlag,
                                    .word = "SHADOW",
                                    .about = "Decided and counted, and denies nothing."};
constexpr Member kPercentMember = {.name = "percent",
                                   .kind = MemberKind::kInteger,
                                   .word = "PERCENT",
                                   .most = 100,
                                   .about = "Limits so many percent of the keys."};
constexpr Member kOverriddenKey = {
    .name = "key", .kind = MemberKind::kKey, .word = "KEY", .about = "For this key."};
constexpr Member kOverriddenPrefix = {.name = "prefix",
                                      .kind = MemberKind::kKey,
                                      .word = "PREFIX",
                                      .about = "For all keys that begin so."};
constexpr Member kCursorMember = {
    .name = "cursor", .kind = MemberKind::kToken, .about = "As it was answered; 0 begins."};
constexpr Member kDiffMember = {.name = "diff",
                                .kind = MemberKind::kFlag,
                                .word = "DIFF",
                                .about = "Answers what would change, and changes nothing."};

constexpr Member kPolicyAlone[] = {kNamedMember};
constexpr Member kSet[] = {kNamedMember, kEffectMember, kShadowedMember, kPercentMember,
                           kOnChangeMember};
constexpr Member kOverride[] = {kNamedMember, kOverriddenKey, kOverriddenPrefix, kEffectMember};
constexpr Member kOverrideDelete[] = {kNamedMember, kOverriddenKey, kOverriddenPrefix};
constexpr Member kOverrides[] = {kNamedMember, kCursorMember};
constexpr Member kReload[] = {kDiffMember};
constexpr Member kPolicyReport[] = {kNamedMember, kResultMember, kLatencyMember};

constexpr Endpoint kPolicyEndpoints[] = {
    {.path = "policies/list",
     .command = "RL.POLICY LIST",
     .form = ReplyForm::kValue,
     .shape = &kNamesShape,
     .in_batch = false},
    {.path = "policies/get",
     .command = "RL.POLICY GET",
     .members = kPolicyAlone,
     .form = ReplyForm::kMap,
     .shape = &kPolicyShape,
     .may_be_null = true,
     .in_batch = false},
    {.path = "policies/set",
     .command = "RL.POLICY SET",
     .members = kSet,
     .form = ReplyForm::kValue,
     .shape = &kDoneShape,
     .in_batch = false},
    {.path = "policies/delete",
     .command = "RL.POLICY DEL",
     .members = kPolicyAlone,
     .form = ReplyForm::kValue,
     .shape = &kExistedShape,
     .in_batch = false},
    {.path = "policies/override",
     .command = "RL.POLICY OVERRIDE",
     .members = kOverride,
     .needs = Needs::kKeyOrPrefix,
     .form = ReplyForm::kValue,
     .shape = &kDoneShape,
     .in_batch = false},
    {.path = "policies/override/delete",
     .command = "RL.POLICY OVERRIDE",
     .members = kOverrideDelete,
     .needs = Needs::kKeyOrPrefix,
     .last = "DEL",
     .form = ReplyForm::kValue,
     .shape = &kExistedShape,
     .in_batch = false},
    {.path = "policies/overrides",
     .command = "RL.POLICY OVERRIDES",
     .members = kOverrides,
     .form = ReplyForm::kTuple,
     .shape = &kOverridesShape,
     .in_batch = false},
    {.path = "policies/stats",
     .command = "RL.POLICY STATS",
     .members = kPolicyAlone,
     .form = ReplyForm::kMap,
     .shape = &kStatsShape,
     .in_batch = false},
    {.path = "policies/stats/all",
     .command = "RL.POLICY STATS",
     .form = ReplyForm::kValue,
     .shape = &kAllStatsShape,
     .in_batch = false},
    {.path = "policies/history",
     .command = "RL.POLICY HISTORY",
     .members = kPolicyAlone,
     .form = ReplyForm::kValue,
     .shape = &kHistoryShape,
     .in_batch = false},
    {.path = "policies/reload",
     .command = "RL.POLICY RELOAD",
     .members = kReload,
     .form = ReplyForm::kValue,
     .shape = &kReloadShape,
     .in_batch = false},
    {.path = "policies/report",
     .command = "RL.POLICY REPORT",
     .members = kPolicyReport,
     .form = ReplyForm::kValue,
     .shape = &kReportShape,
     .in_batch = false},
};

}  // namespace

std::span<const Endpoint> policy_endpoints() { return kPolicyEndpoints; }

}  // namespace weir::server::http
