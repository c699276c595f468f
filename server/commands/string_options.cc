#include "server/commands/string_options.h"

#include "resp/numbers.h"

namespace weir::server {
namespace {

struct ExpireWord {
  std::string_view word;
  bool in_seconds;
  bool absolute;
};

constexpr ExpireWord kExpireWords[] = {{.word = "EX", .in_seconds = true, .absolute = false},
                                       {.word = "PX", .in_seconds = false, .absolute = false},
                                       {.word = "EXAT", .in_seconds = true, .absolute = true},
                                       {.word = "PXAT", .in_seconds = false, .absolute = true}};

const ExpireWord* find_expire_word(std::string_view argument) {
  for (const ExpireWord& known : kExpireWords) {
    if (resp::equals_ignoring_case(argument, known.word)) return &known;
  }
  return nullptr;
}

// The same word twice is accepted, and the last one counts; words that contradict are refused.
class Parser {
 public:
  Parser(Args args, size_t first) : args_(args), at_(first) {}

  bool done() const { return at_ == args_.size(); }
  const StringOptions& options() const { return options_; }

  bool take_flag(std::string_view word, bool allowed, bool* flag) {
    if (!allowed || !resp::equals_ignoring_case(args_[at_], word)) return false;
    *flag = true;
    ++at_;
    return true;
  }

  bool take_set_option() {
    return take_flag("NX", !options_.only_if_present, &options_.only_if_absent) ||
           take_flag("XX", !options_.only_if_absent, &options_.only_if_present) ||
           take_flag("GET", true, &options_.answer_old) ||
           take_flag("KEEPTTL", !options_.expire, &options_.keep_expiry) || take_expire();
  }

  bool take_getex_option() {
    return take_flag("PERSIST", !options_.expire, &options_.persist) || take_expire();
  }

 private:
  bool take_expire() {
    const ExpireWord* word = find_expire_word(args_[at_]);
    if (word == nullptr || at_ + 1 == args_.size()) return false;
    if (options_.keep_expiry || options_.persist) return false;
    if (word_ != nullptr && word_ != word) return false;
    word_ = word;
    options_.expire = ExpireArgument{
        .text = args_[at_ + 1], .in_seconds = word->in_seconds, .absolute = word->absolute};
    at_ += 2;
    return true;
  }

  Args args_;
  size_t at_;
  StringOptions options_;
  const ExpireWord* word_ = nullptr;
};

std::optional<StringOptions> parse(Call& call, size_t first, bool (Parser::*take)()) {
  Parser parser(call.args, first);
  while (!parser.done()) {
    if ((parser.*take)()) continue;
    call.reply.error(kSyntaxError);
    return std::nullopt;
  }
  return parser.options();
}

}  // namespace

std::optional<StringOptions> set_options(Call& call, size_t first) {
  return parse(call, first, &Parser::take_set_option);
}

std::optional<StringOptions> getex_options(Call& call, size_t first) {
  return parse(call, first, &Parser::take_getex_option);
}

}  // namespace weir::server
