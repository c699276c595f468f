// Lua's functions that search strings, and those of tables that weir wraps, answer as stock Lua 5.1
// does; and no pattern ends the server or stops it.
#include <gmock/gmock.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::string_view_literals;

struct Vector {
  std::string_view expression;
  std::string_view reply;  // of an error its beginning
};

struct ScriptPatterns : ::testing::Test {
  std::string eval(std::string_view script) { return client->call({"EVAL", script, "0"}); }
  void expect_all(std::initializer_list<Vector> vectors) {
    for (const auto& [expression, reply] : vectors)
      EXPECT_THAT(eval("return {" + std::string(expression) + "}"), StartsWith(std::string(reply)))
          << expression;
  }

  FakeServer server;
  std::unique_ptr<FakeClient> client = server.connect();
};

TEST_F(ScriptPatterns, FindWhatLuaFinds) {
  expect_all({
      {"string.find('hello','l+')", "*2\r\n:3\r\n:4\r\n"},
      {"string.find('hello','l',-1)", "*0\r\n"},
      {"string.find('hello','',10)", "*2\r\n:6\r\n:5\r\n"},
      {"string.find('hello','',-10)", "*2\r\n:1\r\n:0\r\n"},
      {"string.find('a.b','.',2,true)", "*2\r\n:2\r\n:2\r\n"},
      {"string.find('a\\0b','\\0b')", "*2\r\n:2\r\n:3\r\n"},
      {"string.find('ab','b\\0%')", "*0\r\n"},
      {"string.find('a','a\\0%')", "*0\r\n"},
      {"string.match('key=val','(%w+)=(%w+)')", "*2\r\n$3\r\nkey\r\n$3\r\nval\r\n"},
      {"string.match('x','()')", "*1\r\n:1\r\n"},
      {"string.match('  trim  ','^%s*(.-)%s*$')", "*1\r\n$4\r\ntrim\r\n"},
      {"string.match('2024-01-02','(%d+)-(%d+)-(%d+)')",
       "*3\r\n$4\r\n2024\r\n$2\r\n01\r\n$2\r\n02\r\n"},
      {"string.match('THE (quick) fox','%((%a+)%)')", "*1\r\n$5\r\nquick\r\n"},
      {"string.find('THE (quick) fox','%b()')", "*2\r\n:5\r\n:11\r\n"},
      {"string.find('aXb','%f[%u]')", "*2\r\n:2\r\n:1\r\n"},
      {"string.match('abcabc','(abc)%1')", "*1\r\n$3\r\nabc\r\n"},
      {"string.match('[[]]','[]]')", "*1\r\n$1\r\n]\r\n"},
      {"string.match('a]','[^]]')", "*1\r\n$1\r\na\r\n"},
      {"string.match('a-z','[a%-z]+')", "*1\r\n$3\r\na-z\r\n"},
      {"string.match('-','[%a-z]')", "*1\r\n$1\r\n-\r\n"},
      {"string.match('az','[a-]+')", "*1\r\n$1\r\na\r\n"},
      {"string.match('\\0\\1','%z')", "*1\r\n$1\r\n\000\r\n"sv},
      {"string.match('AbC','%u%l%U')", "*0\r\n"},
      {"string.match('0x1F','%x+')", "*1\r\n$1\r\n0\r\n"},
      {"string.match('a$','a$$')", "*1\r\n$2\r\na$\r\n"},
      {"string.match('a^','^a^')", "*1\r\n$2\r\na^\r\n"},
      {"string.match('aaa','a-$')", "*1\r\n$3\r\naaa\r\n"},
      {"string.match('aaab','a-b')", "*1\r\n$4\r\naaab\r\n"},
      {"string.match('abc','a?b?c?d?')", "*1\r\n$3\r\nabc\r\n"},
      {"string.find('a','a)')", "*0\r\n"},
      {"string.find('aa','()a%1')", "*0\r\n"},
      {"(function() local t={} for k,v in string.gmatch('a=1,b=2','(%w+)=(%w+)') do t[#t+1]=k..v "
       "end return unpack(t) end)()",
       "*2\r\n$2\r\na1\r\n$2\r\nb2\r\n"},
      {"(function() local t={} for w in string.gmatch('^a^b','^%a') do t[#t+1]=w end return "
       "unpack(t) end)()",
       "*2\r\n$2\r\n^a\r\n$2\r\n^b\r\n"},
      {"(function() local t={} for p in string.gmatch('ab','()') do t[#t+1]=p end return unpack(t) "
       "end)()",
       "*3\r\n:1\r\n:2\r\n:3\r\n"},
  });
}

TEST_F(ScriptPatterns, ReplaceWhatLuaReplaces) {
  expect_all({
      {"string.gsub('THE (quick) fox','%f[%a]%a+','W')", "*2\r\n$7\r\nW (W) W\r\n:3\r\n"},
      {"string.gsub('hello world','o','0')", "*2\r\n$11\r\nhell0 w0rld\r\n:2\r\n"},
      {"string.gsub('hello','','-')", "*2\r\n$11\r\n-h-e-l-l-o-\r\n:6\r\n"},
      {"string.gsub('hello','l','%%')", "*2\r\n$5\r\nhe%%o\r\n:2\r\n"},
      {"string.gsub('hello','(l)(l)','%2%1%0')", "*2\r\n$7\r\nhellllo\r\n:1\r\n"},
      {"string.gsub('hello','l','x',1)", "*2\r\n$5\r\nhexlo\r\n:1\r\n"},
      {"string.gsub('hello','l','x',0)", "*2\r\n$5\r\nhello\r\n:0\r\n"},
      {"string.gsub('hello','l','x',-1)", "*2\r\n$5\r\nhello\r\n:0\r\n"},
      {"string.gsub('abc','%w',{a='1',b=false})", "*2\r\n$3\r\n1bc\r\n:3\r\n"},
      {"string.gsub('abc','(%w)(%w)',function(a,b) return b..a end)", "*2\r\n$3\r\nbac\r\n:1\r\n"},
      {"string.gsub('abc','^a','x')", "*2\r\n$3\r\nxbc\r\n:1\r\n"},
      {"string.gsub('aaa','^a','x')", "*2\r\n$3\r\nxaa\r\n:1\r\n"},
      {"string.gsub('abc','b',5)", "*2\r\n$3\r\na5c\r\n:1\r\n"},
      {"string.gsub('abc','b','%')", "*2\r\n$3\r\na\000c\r\n:1\r\n"sv},
      {"string.gsub('abc','()',function(p) return p end)", "*2\r\n$7\r\n1a2b3c4\r\n:4\r\n"},
  });
}

TEST_F(ScriptPatterns, RefuseWhatLuaRefuses) {
  expect_all({
      {"string.gsub('abc','b','%2')", "-ERR user_script:1: invalid capture index"},
      {"string.gsub('abc','b',true)",
       "-ERR user_script:1: bad argument #3 to 'gsub' (string/function/table expected)"},
      {"string.gsub('abc','b',function() return {} end)",
       "-ERR user_script:1: invalid replacement value (a table)"},
      {"string.find('a','[a')", "-ERR user_script:1: malformed pattern (missing ']')"},
      {"string.find('a','[]')", "-ERR user_script:1: malformed pattern (missing ']')"},
      {"string.find('a','[^]')", "-ERR user_script:1: malformed pattern (missing ']')"},
      {"string.find('a','%')", "-ERR user_script:1: malformed pattern (ends with '%')"},
      {"string.find('a','[%')", "-ERR user_script:1: malformed pattern (missing ']')"},
      {"string.find('a','%f')", "-ERR user_script:1: missing '[' after '%f' in pattern"},
      {"string.find('a','%b')", "-ERR user_script:1: unbalanced pattern"},
      {"string.find('a','%bx')", "-ERR user_script:1: unbalanced pattern"},
      {"string.find('a','(a')", "-ERR user_script:1: unfinished capture"},
      {"string.find('a','%1')", "-ERR user_script:1: invalid capture index"},
      {"string.find('a','(%1)')", "-ERR user_script:1: invalid capture index"},
      {"string.match('a',string.rep('()',33))", "-ERR user_script:1: too many captures"},
      {"string.find()",
       "-ERR user_script:1: bad argument #1 to 'find' (string expected, got no value)"},
      {"string.find('a')",
       "-ERR user_script:1: bad argument #2 to 'find' (string expected, got no value)"},
      {"string.find({},'a')",
       "-ERR user_script:1: bad argument #1 to 'find' (string expected, got table)"},
      {"string.match('a',nil)",
       "-ERR user_script:1: bad argument #2 to 'match' (string expected, got nil)"},
      {"string.gsub('a','a')",
       "-ERR user_script:1: bad argument #3 to 'gsub' (string/function/table expected)"},
      {"string.gmatch('a')",
       "-ERR user_script:1: bad argument #2 to 'gmatch' (string expected, got no value)"},
  });
}

TEST_F(ScriptPatterns, WrappedFunctionsAnswerAsLuas) {
  expect_all({
      {"('x'):rep(3)", "*1\r\n$3\r\nxxx\r\n"},
      {"('ab'):rep(0)", "*1\r\n$0\r\n\r\n"},
      {"('ab'):rep(-5)", "*1\r\n$0\r\n\r\n"},
      {"string.rep('a','2')", "*1\r\n$2\r\naa\r\n"},
      {"string.rep('a')",
       "-ERR user_script:1: bad argument #2 to 'rep' (number expected, got no value)"},
      {"string.rep()",
       "-ERR user_script:1: bad argument #1 to 'rep' (string expected, got no value)"},
      {"string.rep({},1)",
       "-ERR user_script:1: bad argument #1 to 'rep' (string expected, got table)"},
      {"string.rep('','x')",
       "-ERR user_script:1: bad argument #2 to 'rep' (number expected, got string)"},
      {"(function() local t={1,3} table.insert(t,2,2) return unpack(t) end)()",
       "*3\r\n:1\r\n:2\r\n:3\r\n"},
      {"(function() table.insert({},1,2,3) end)()",
       "-ERR user_script:1: wrong number of arguments to 'insert'"},
      {"(function() table.insert(5,1) end)()",
       "-ERR user_script:1: bad argument #1 to 'insert' (table expected, got number)"},
      {"(function() table.remove(5) end)()",
       "-ERR user_script:1: bad argument #1 to 'remove' (table expected, got number)"},
      {"(function() table.sort(5) end)()",
       "-ERR user_script:1: bad argument #1 to 'sort' (table expected, got number)"},
      {"(function() table.sort({},5) end)()",
       "-ERR user_script:1: bad argument #2 to 'sort' (function expected, got number)"},
      {"(function() table.sort({1,'x'}) end)()", "-ERR attempt to compare string with number"},
      {"(function() table.sort({3,1,2,5,4},function() return true end) end)()",
       "-ERR user_script:1: invalid order function for sorting"},
      {"(function() local t={3,1,2} table.sort(t) return unpack(t) end)()",
       "*3\r\n:1\r\n:2\r\n:3\r\n"},
      {"(function() local t={1,2,3} table.remove(t,1) return unpack(t) end)()",
       "*2\r\n:2\r\n:3\r\n"},
  });
}

TEST_F(ScriptPatterns, NestedTooDeepAreRefused) {
  EXPECT_THAT(eval("return string.find(string.rep('a',2e6),string.rep('a?',2e6))"),
              HasSubstr("pattern too complex"));
  EXPECT_EQ(eval("return string.find(string.rep('a',3000),string.rep('a?',3000))"), ":1\r\n");
}

}  // namespace
}  // namespace weir::server
