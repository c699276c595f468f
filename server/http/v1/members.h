// Members that several endpoints have.
#pragma once

#include "algorithms/adaptive.h"
#include "algorithms/limit.h"
#include "base/time_units.h"
#include "server/http/v1/endpoint.h"

namespace weir::server::http {

inline constexpr std::string_view kModes[] = {"USED", "RESET", "ASIS", "PROPORTIONAL", "ADDITIVE"};
inline constexpr std::string_view kResults[] = {"OK", "FAIL"};
inline constexpr int64_t kIdMax = (int64_t{1} << 53) - 1;  // limiter/counts/random_ids.h

inline constexpr Member kKeyMember = {
    .name = "key", .kind = MemberKind::kKey, .must = true, .about = "The key of the limiter."};
inline constexpr Member kPolicyMember = {.name = "policy",
                                         .kind = MemberKind::kName,
                                         .word = "POLICY",
                                         .about = "The name of a policy."};
inline constexpr Member kLimitsMember = {
    .name = "limits",
    .kind = MemberKind::kLimits,
    .about =
        "Limits in the words of RL.TAKE: GCRA 10/1s BURST 20 FIXED 5/1h. An array is joined "
        "with blanks."};
inline constexpr Member kCostMember = {
    .name = "cost",
    .kind = MemberKind::kCosts,
    .word = "COST",
    .about = "Permits, 1 if it is left out; an array has one number for each limit."};
inline constexpr Member kTokenMember = {
    .name = "id",
    .kind = MemberKind::kToken,
    .word = "ID",
    .about =
        "Makes the request safe to repeat for 60 seconds: with the same members it is "
        "answered as before, and takes nothing."};
inline constexpr Member kHoldMember = {
    .name = "hold",
    .kind = MemberKind::kDuration,
    .word = "HOLD",
    .about =
        "Keeps the cost as an estimate for so long, at most a day, until settle says what was "
        "used: 60s."};
inline constexpr Member kShadowMember = {
    .name = "shadow",
    .kind = MemberKind::kFlag,
    .word = "SHADOW",
    .about = "Lets the request through whatever the limits say, and tells what they would say."};
inline constexpr Member kUptoMember = {.name = "upto",
                                       .kind = MemberKind::kFlag,
                                       .word = "UPTO",
                                       .about = "Takes what there is, at most the cost."};
inline constexpr Member kForceMember = {.name = "force",
                                        .kind = MemberKind::kFlag,
                                        .word = "FORCE",
                                        .about = "Takes also what is not there, into debt."};
inline constexpr Member kOnChangeMember = {
    .name = "onchange",
    .kind = MemberKind::kChoice,
    .word = "ONCHANGE",
    .choices = kModes,
    .about = "What survives of the key where its limits are written otherwise than before."};
// Their words are asked for in any case.
inline constexpr Member kFullMember = {
    .name = "full", .kind = MemberKind::kFlag, .about = "Changes nothing: it is always so."};
inline constexpr Member kHeadersMember = {
    .name = "headers", .kind = MemberKind::kFlag, .about = "Changes nothing: it is always so."};
// Of several keys they are asked for.
inline constexpr Member kAskedHeadersMember = {
    .name = "headers",
    .kind = MemberKind::kFlag,
    .word = "HEADERS",
    .about = "Answers the HTTP fields, with an item for each limit of each key."};
inline constexpr Member kIdMember = {
    .name = "id",
    .kind = MemberKind::kInteger,
    .must = true,
    .least = 1,
    .most = kIdMax,
    .about = "As it was answered: of a hold, a lease or a booking."};
inline constexpr Member kResultMember = {.name = "result",
                                         .kind = MemberKind::kChoice,
                                         .must = true,
                                         .choices = kResults,
                                         .about = "How the call went."};
inline constexpr Member kLatencyMember = {.name = "latency",
                                          .kind = MemberKind::kTime,
                                          .word = "LATENCY",
                                          .most = algorithms::kLatencyNsMax / kNsPerMs,
                                          .about = "How long the call took."};
inline constexpr Member kNamedMember = {
    .name = "policy", .kind = MemberKind::kName, .must = true, .about = "The name of the policy."};

// What both kinds of reports answer.
inline constexpr AnswerField kAdaptiveFields[] = {{"name", FieldKind::kText},
                                                  {"count", FieldKind::kInteger},
                                                  {"min", FieldKind::kInteger},
                                                  {"max", FieldKind::kInteger}};
inline constexpr Shape kAdaptiveShape = {"AdaptiveLimit", kAdaptiveFields};
inline constexpr AnswerField kReportFields[] = {{"limits", FieldKind::kTuples, &kAdaptiveShape}};
inline constexpr Shape kReportShape = {"Report", kReportFields};
inline constexpr AnswerField kExistedFields[] = {{"existed", FieldKind::kFlag}};
inline constexpr Shape kExistedShape = {"Existed", kExistedFields};
inline constexpr AnswerField kDoneFields[] = {{"ok", FieldKind::kFlag}};
inline constexpr Shape kDoneShape = {"Done", kDoneFields};

}  // namespace weir::server::http
