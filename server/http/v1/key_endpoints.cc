// The endpoints about keys: permits taken, booked, settled, given back, and looked at.
#include "server/http/v1/endpoints.h"
#include "server/http/v1/members.h"
#include "server/limiter/counts/top_windows.h"
#include "server/limiter/policy/request.h"

namespace weir::server::http {
namespace {

using enum FieldKind;

// Answers.

constexpr AnswerField kLimitFields[] = {{"name", kText},        {"algorithm", kText},
                                        {"capacity", kInteger}, {"remaining", kInteger},
                                        {"reset_ms", kInteger}, {"window_ms", kInteger}};
constexpr Shape kLimitShape = {"Limit", kLimitFields};

constexpr AnswerField kVerdictFields[] = {{"allowed", kFlag},
                                          {"retry_ms", kInteger},
                                          {"granted", kInteger},
                                          {"lease", kIntegerOrNull},
                                          {"hold", kIntegerOrNull, nullptr, true},
                                          {"shadow", kFlag},
                                          {"banned", kFlag},
                                          {"policy", kBytesOrNull},
                                          {"callers", kInteger, nullptr, true},
                                          {"limits", kObjects, &kLimitShape},
                                          {"headers", kTextsByName, nullptr, true}};
constexpr Shape kVerdictShape = {"Verdict", kVerdictFields};

constexpr AnswerField kVerdictsFields[] = {{"allowed", kFlag},
                                           {"retry_ms", kInteger},
                                           {"index", kInteger},
                                           {"keys", kObjects, &kVerdictShape},
                                           {"headers", kTextsByName, nullptr, true}};
constexpr Shape kVerdictsShape = {"Verdicts", kVerdictsFields};

constexpr AnswerField kStandingFields[] = {
    {"allowed", kFlag},           {"limit", kInteger},          {"remaining", kInteger},
    {"retry_after_ms", kInteger}, {"reset_after_ms", kInteger}, {"index", kInteger}};
constexpr Shape kStandingShape = {"Standing", kStandingFields};

constexpr AnswerField kBookingFields[] = {
    {"granted", kFlag}, {"wait_ms", kInteger}, {"id", kIntegerOrNull}};
constexpr Shape kBookingShape = {"Booking", kBookingFields};

constexpr AnswerField kPermitsFields[] = {{"permits", kInteger}};
constexpr Shape kPermitsShape = {"Permits", kPermitsFields};

constexpr AnswerField kReportedFields[] = {{"count", kInteger},
                                           {"min", kInteger},
                                           {"max", kInteger},
                                           {"count_of", kText},
                                           {"last_report", kTextOrNull},
                                           {"last_report_ms_ago", kIntegerOrNull},
                                           {"last_latency_ms", kIntegerOrNull}};
constexpr Shape kReportedShape = {"Reported", kReportedFields};
constexpr AnswerField kHeldFields[] = {
    {"algorithm", kText},         {"parameters", kText},
    {"limit", kInteger},          {"remaining", kInteger},
    {"reset_after_ms", kInteger}, {"adaptive", kObject, &kReportedShape, true}};
constexpr Shape kHeldShape = {"HeldLimit", kHeldFields};
constexpr AnswerField kLimiterFields[] = {{"limits", kObjects, &kHeldShape},
                                          {"named", kInteger},
                                          {"bookings", kInteger},
                                          {"waiting", kInteger},
                                          {"holds", kInteger},
                                          {"banned_ms", kInteger}};
constexpr Shape kLimiterShape = {"Limiter", kLimiterFields};

constexpr AnswerField kTopKeyFields[] = {{"key", kBytes}, {"count", kInteger}, {"error", kInteger}};
constexpr Shape kTopKeyShape = {"TopKey", kTopKeyFields};
constexpr AnswerField kTopFields[] = {{"keys", kTuples, &kTopKeyShape}};
constexpr Shape kTopShape = {"TopKeys", kTopFields};

// Bodies.

constexpr Member kTake[] = {kKeyMember,  kPolicyMember,   kLimitsMember, kCostMember,
                            kUptoMember, kShadowMember,   kForceMember,  kTokenMember,
                            kHoldMember, kOnChangeMember, kFullMember,   kHeadersMember};
constexpr Member kPeek[] = {kKeyMember,      kPolicyMember, kLimitsMember, kCostMember,
                            kOnChangeMember, kFullMember,   kHeadersMember};
constexpr Member kKeysMember = {
    .name = "keys", .kind = MemberKind::kKeys, .must = true, .about = "The keys, each once."};
constexpr Member kEachMember = {
    .name = "each",
    .kind = MemberKind::kEach,
    .word = "EACH",
    .about =
        "For each key its policy, its limits, or both. Without it the policy or the limits "
        "spread over the keys: limit i is key i's."};
constexpr Member kKeyCostsMember = {
    .name = "keycosts",
    .kind = MemberKind::kCosts,
    .word = "KEYCOSTS",
    .about =
        "In place of `cost`: an array has one number for each key, of every limit of that key."};
constexpr Member kMtake[] = {kKeysMember,  kEachMember,        kPolicyMember, kLimitsMember,
                             kCostMember,  kKeyCostsMember,    kUptoMember,   kShadowMember,
                             kForceMember, kTokenMember,       kHoldMember,   kOnChangeMember,
                             kFullMember,  kAskedHeadersMember};

// A connection waits as long as proxies let it, and not much longer: who comes again with the ID
// has kept the place.
constexpr int64_t kTimeoutMsMax = 60'000;
constexpr Member kTimeoutMember = {
    .name = "timeout",
    .kind = MemberKind::kTime,
    .word = "TIMEOUT",
    .must = true,
    .least = 1,
    .most = kTimeoutMsMax,
    .about = "How long to wait at most, up to a minute: 10s, or 10000 milliseconds."};
constexpr Member kAcquire[] = {kKeyMember,     kPolicyMember, kLimitsMember, kCostMember,
                               kTimeoutMember, kTokenMember,  kHoldMember,   kOnChangeMember,
                               kFullMember,    kHeadersMember};
constexpr Member kMaxWaitMember = {
    .name = "maxwait",
    .kind = MemberKind::kTime,
    .word = "MAXWAIT",
    .most = kTimeoutNsMax / kNsPerMs,
    .about = "Books only if the wait is no longer: 10s, or 10000 milliseconds."};
constexpr Member kReserve[] = {kKeyMember,     kPolicyMember, kLimitsMember,  kCostMember,
                               kMaxWaitMember, kTokenMember,  kOnChangeMember};

constexpr Member kUsedMember = {.name = "cost",
                                .kind = MemberKind::kCosts,
                                .must = true,
                                .about = "What was used; an array has one number for each limit."};
constexpr Member kSettle[] = {kKeyMember, kIdMember, kUsedMember};
constexpr Member kKeyAndId[] = {kKeyMember, kIdMember};
constexpr Member kPermitsMember = {
    .name = "permits",
    .kind = MemberKind::kCosts,
    .must = true,
    .about = "How many to give back; an array has one number for each limit."};
constexpr Member kRefund[] = {kKeyMember, kPermitsMember, kTokenMember};
constexpr Member kReport[] = {kKeyMember, kResultMember, kLatencyMember};
constexpr Member kKeyAlone[] = {kKeyMember};

constexpr std::string_view kCounts[] = {"DENIED", "TAKEN", "SHADOW"};
constexpr std::string_view kWindows[] = {"MINUTE", "HOUR", "DAY"};
constexpr Member kTop[] = {{.name = "by",
                            .kind = MemberKind::kChoice,
                            .choices = kCounts,
                            .about = "What is counted; denials if it is left out."},
                           {.name = "window",
                            .kind = MemberKind::kChoice,
                            .choices = kWindows,
                            .about = "An hour if it is left out."},
                           {.name = "count",
                            .kind = MemberKind::kInteger,
                            .word = "COUNT",
                            .least = 1,
                            .most = kTopCountMax,
                            .about = "So many keys at most; 10 if it is left out."}};

constexpr Endpoint kKeyEndpoints[] = {
    {.path = "take",
     .command = "RL.TAKE",
     .members = kTake,
     .needs = Needs::kLimits,
     .last = "HEADERS",
     .form = ReplyForm::kMap,
     .shape = &kVerdictShape,
     .traced = true},
    {.path = "peek",
     .command = "RL.PEEK",
     .members = kPeek,
     .last = "HEADERS",
     .form = ReplyForm::kMap,
     .shape = &kVerdictShape,
     .may_be_null = true,
     .traced = true},
    {.path = "mtake",
     .command = "RL.MTAKE",
     .members = kMtake,
     .needs = Needs::kLimitsOrEach,
     .last = "FULL",
     .form = ReplyForm::kMap,
     .shape = &kVerdictsShape,
     .traced = true},
    {.path = "acquire",
     .command = "RL.ACQUIRE",
     .members = kAcquire,
     .needs = Needs::kLimits,
     .last = "HEADERS",
     .form = ReplyForm::kMap,
     .shape = &kVerdictShape,
     .in_batch = false,
     .waits = true,
     .traced = true},
    {.path = "reserve",
     .command = "RL.RESERVE",
     .members = kReserve,
     .needs = Needs::kLimits,
     .form = ReplyForm::kTuple,
     .shape = &kBookingShape,
     .traced = true},
    {.path = "settle",
     .command = "RL.SETTLE",
     .members = kSettle,
     .form = ReplyForm::kTuple,
     .shape = &kStandingShape,
     .may_be_null = true},
    {.path = "cancel",
     .command = "RL.CANCEL",
     .members = kKeyAndId,
     .form = ReplyForm::kValue,
     .shape = &kPermitsShape},
    {.path = "release",
     .command = "RL.RELEASE",
     .members = kKeyAndId,
     .form = ReplyForm::kValue,
     .shape = &kPermitsShape},
    {.path = "renew",
     .command = "RL.RENEW",
     .members = kKeyAndId,
     .form = ReplyForm::kValue,
     .shape = &kPermitsShape},
    {.path = "refund",
     .command = "RL.REFUND",
     .members = kRefund,
     .form = ReplyForm::kTuple,
     .shape = &kStandingShape,
     .may_be_null = true},
    {.path = "report",
     .command = "RL.REPORT",
     .members = kReport,
     .form = ReplyForm::kValue,
     .shape = &kReportShape,
     .may_be_null = true},
    {.path = "info",
     .command = "RL.INFO",
     .members = kKeyAlone,
     .form = ReplyForm::kMap,
     .shape = &kLimiterShape,
     .may_be_null = true},
    {.path = "reset",
     .command = "RL.RESET",
     .members = kKeyAlone,
     .form = ReplyForm::kValue,
     .shape = &kExistedShape},
    {.path = "top",
     .command = "RL.TOP",
     .members = kTop,
     .form = ReplyForm::kValue,
     .shape = &kTopShape,
     .in_batch = false},
    {.path = "top/reset",
     .command = "RL.TOP RESET",
     .form = ReplyForm::kValue,
     .shape = &kDoneShape,
     .in_batch = false},
};

}  // namespace

std::span<const Endpoint> key_endpoints() { return kKeyEndpoints; }

}  // namespace weir::server::http
