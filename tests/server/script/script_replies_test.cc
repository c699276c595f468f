// What Redis 7.0.15 answered to one-line scripts, recorded byte by byte.
//
// Two answers differ on purpose: a redis.error_reply() of one word stays without ERR, and the
// version is ours.
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using namespace std::string_view_literals;

struct Recorded {
  std::string_view script;
  std::string_view resp2;
  std::string_view resp3 = {};  // empty: the same; "?": not recorded
  std::string_view needs = {};  // played once this command exists
};

constexpr Recorded kRecorded[] = {
    {"return true", ":1\r\n"},
    {"return false", "$-1\r\n", "_\r\n"},
    {"return nil", "$-1\r\n", "_\r\n"},
    {"return 3.99", ":3\r\n"},
    {"return -3.99", ":-3\r\n"},
    {"return 1e15+0.5", ":1000000000000000\r\n"},
    {"return 2^53", ":9007199254740992\r\n"},
    {"return 1/0", ":-9223372036854775808\r\n"},
    {"return -1/0", ":-9223372036854775808\r\n"},
    {"return 0/0", ":-9223372036854775808\r\n"},
    {"return '10'", "$2\r\n10\r\n"},
    {"return {1,2.7,'x',true,false,nil,5}", "*5\r\n:1\r\n:2\r\n$1\r\nx\r\n:1\r\n$-1\r\n",
     "*5\r\n:1\r\n:2\r\n$1\r\nx\r\n:1\r\n_\r\n"},
    {"return {false}", "*1\r\n$-1\r\n", "*1\r\n_\r\n"},
    {"return {nil,1}", "*0\r\n"},
    {"return {}", "*0\r\n"},
    {"return {ok='fine'}", "+fine\r\n"},
    {"return {err='MYERR boom'}", "-MYERR boom\r\n"},
    {"return {err='boom'}", "-boom\r\n"},
    {"return redis.error_reply('SETTINGS_KEY_NOT_FOUND')", "-SETTINGS_KEY_NOT_FOUND\r\n"},
    {"return redis.error_reply('MY ERR text')", "-MY ERR text\r\n"},
    {"return redis.error_reply('-MY text')", "-MY text\r\n"},
    {"return redis.status_reply('PONGY')", "+PONGY\r\n"},
    {"return tostring(0.1)", "$3\r\n0.1\r\n"},
    {"return tostring(1/3)", "$16\r\n0.33333333333333\r\n"},
    {"return tostring(100)", "$3\r\n100\r\n"},
    {"return tostring(1e15)", "$5\r\n1e+15\r\n"},
    {"return tostring(1e14)", "$5\r\n1e+14\r\n"},
    {"return tostring(-1)", "$2\r\n-1\r\n"},
    {"return tostring(true)", "$4\r\ntrue\r\n"},
    {"return tostring(1719234234.1234567)", "$15\r\n1719234234.1235\r\n"},
    {"return redis.call('set','k',0.1)", "+OK\r\n"},
    {"return {redis.call('set','k',1/3),redis.call('get','k')}",
     "*2\r\n+OK\r\n$19\r\n0.33333333333333331\r\n"},
    {"return {redis.call('set','k',1719234234.1234567),redis.call('get','k')}",
     "*2\r\n+OK\r\n$18\r\n1719234234.1234567\r\n"},
    {"return {redis.call('set','k',1e20),redis.call('get','k')}", "*2\r\n+OK\r\n$5\r\n1e+20\r\n"},
    {"return {redis.call('set','k',2^53),redis.call('get','k')}",
     "*2\r\n+OK\r\n$16\r\n9007199254740992\r\n"},
    {"return {redis.call('set','k',3.0),redis.call('get','k')}", "*2\r\n+OK\r\n$1\r\n3\r\n"},
    {"return {redis.call('set','k',1e17),redis.call('get','k')}", "*2\r\n+OK\r\n$5\r\n1e+17\r\n"},
    {"return {redis.call('set','k',-0.0),redis.call('get','k')}", "*2\r\n+OK\r\n$2\r\n-0\r\n"},
    {"return redis.call('get','nokey')", "$-1\r\n", "_\r\n"},
    {"return tostring(redis.call('get','nokey'))", "$5\r\nfalse\r\n"},
    {"return type(redis.call('get','nokey'))", "$7\r\nboolean\r\n"},
    {"return redis.call('hgetall','nokey')", "*0\r\n", {}, "hgetall"},
    {"redis.call('hset','hh','b','1','a','2') return redis.call('hgetall','hh')",
     "*4\r\n$1\r\nb\r\n$1\r\n1\r\n$1\r\na\r\n$1\r\n2\r\n",
     {},
     "hset"},
    {"redis.setresp(3) return redis.call('hgetall','hh')",
     "*4\r\n$1\r\na\r\n$1\r\n2\r\n$1\r\nb\r\n$1\r\n1\r\n",
     "%2\r\n$1\r\na\r\n$1\r\n2\r\n$1\r\nb\r\n$1\r\n1\r\n", "hgetall"},
    {"redis.setresp(3) return true", ":1\r\n", "#t\r\n"},
    {"redis.setresp(3) return redis.call('get','nokey')", "$-1\r\n", "_\r\n"},
    {"redis.setresp(3); return redis.call('zscore','nokey','x')", "$-1\r\n", "_\r\n", "zscore"},
    {"redis.call('zadd','z',1.5,'m') return redis.call('zscore','z','m')",
     "$3\r\n1.5\r\n",
     {},
     "zadd"},
    {"redis.call('zadd','z',1.5,'m') return redis.call('zrange','z',0,-1,'withscores')",
     "*2\r\n$1\r\nm\r\n$3\r\n1.5\r\n",
     {},
     "zadd"},
    {"redis.setresp(3) return redis.call('zrange','z',0,-1,'withscores')",
     "*1\r\n*2\r\n$1\r\nm\r\n$3\r\n1.5\r\n", "*1\r\n*2\r\n$1\r\nm\r\n,1.5\r\n", "zrange"},
    {"return redis.call('nosuch')",
     "-ERR Unknown Redis command called from script script: "
     "206396248e12c6e742fd7296250433c8d7343b74, on @user_script:1.\r\n"},
    {"return redis.call('get')",
     "-ERR Wrong number of args calling Redis command from script script: "
     "f187dee77f607f7cff00bbabc9df38507582c78d, on @user_script:1.\r\n"},
    {"return redis.pcall('nosuch')", "-ERR Unknown Redis command called from script\r\n"},
    {"return redis.pcall('incr','hh')",
     "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
     {},
     "hset"},
    {"return redis.call('incr','hh')",
     "-WRONGTYPE Operation against a key holding the wrong kind of value script: "
     "3b407b396c7cadaedd499ff7c0f1a1b5b53db4a3, on @user_script:1.\r\n",
     {},
     "hset"},
    {"error('plain')",
     "-ERR user_script:1: plain script: 7c69090d716b3b899dd0365cfdda40b6cf8ae98d, on "
     "@user_script:1.\r\n"},
    {"error({err='MYCODE table'})",
     "-MYCODE table script: d57e910586c2289fd4579298a8029e195d7e96f5, on @user_script:1.\r\n"},
    {"assert(false,'RateLimiter is not initialized')",
     "-ERR user_script:1: RateLimiter is not initialized script: "
     "40f4f1b10851fd7d4a41031f71faa53ab97bef9b, on @user_script:1.\r\n"},
    {"assert(false)",
     "-ERR user_script:1: assertion failed! script: 2878c2ae3cafd05c022d4f19e4b521d97df409a2, on "
     "@user_script:1.\r\n"},
    {"local x = nil; return x.y",
     "-ERR user_script:1: attempt to index local 'x' (a nil value) script: "
     "cf0efd7895bbde8aab6ffbb44ec6bca4bd5ef4c3, on @user_script:1.\r\n"},
    {"return foo",
     "-ERR user_script:1: Script attempted to access nonexistent global variable 'foo' script: "
     "47e30a5d10d5694f99208f9adc4fe3bf2450edbd, on @user_script:1.\r\n"},
    {"foo=1",
     "-ERR user_script:1: Attempt to modify a readonly table script: "
     "5bddd8336e5f711bfa499383fc73c17560c6250b, on @user_script:1.\r\n"},
    {"return {double=3.5}", "$3\r\n3.5\r\n", ",3.5\r\n"},
    {"redis.setresp(3) return {double=3.5}", "$3\r\n3.5\r\n", ",3.5\r\n"},
    {"return {map={a=1}}", "*2\r\n$1\r\na\r\n:1\r\n", "%1\r\n$1\r\na\r\n:1\r\n"},
    {"redis.setresp(3) return {map={a=1}}", "*2\r\n$1\r\na\r\n:1\r\n", "%1\r\n$1\r\na\r\n:1\r\n"},
    {"return redis.replicate_commands()", ":1\r\n"},
    {"return cjson.encode({a=1})", "$7\r\n{\"a\":1}\r\n"},
    {"return cjson.decode('[1]\\0x')", "*1\r\n:1\r\n"},
    {"return cjson.decode('[1,\\0]')",
     "-ERR user_script:1: Expected value but found T_END at character 4 script: "
     "c75eb8288c76a24051191798df252b0a32bc6dde, on @user_script:1.\r\n"},
    {"return cjson.encode({1,2,3.5})", "$9\r\n[1,2,3.5]\r\n"},
    {"return struct.pack('Bc0I',3,'abc',7)", "$8\r\n\003abc\007\000\000\000\r\n"sv},
    {"local a,b=struct.unpack('Bc0I',struct.pack('Bc0I',3,'abc',7)) return {a,b}",
     "*2\r\n$3\r\nabc\r\n:7\r\n"},
    {"return struct.size and struct.size('Bc0I') or 'nosize'",
     "-ERR user_script:1: bad argument #1 to 'size' (option 'c0' has no fixed size) script: "
     "884a803fc04076702723211a57d63bb3cb3112f1, on @user_script:1.\r\n"},
    {"return cmsgpack.pack({1,2})", "$3\r\n\222\001\002\r\n"},
    {"return bit.band(7,3)", ":3\r\n"},
    {"return redis.sha1hex('')", "$40\r\nda39a3ee5e6b4b0d3255bfef95601890afd80709\r\n"},
    {"return math.floor(3.7)", ":3\r\n"},
    {"return table.maxn({1,2,3})", ":3\r\n"},
    {"return 10 % 3", ":1\r\n"},
    {"return '10' + 5", ":15\r\n"},
    {"return '10' < '9'", ":1\r\n"},
    {"return #KEYS", ":0\r\n"},
    {"return _VERSION", "$7\r\nLua 5.1\r\n"},
    {"return tostring(tonumber(''))", "$3\r\nnil\r\n"},
    {"return tostring(tonumber('0x10'))", "$2\r\n16\r\n"},
    {"return tostring(tonumber('1e3'))", "$4\r\n1000\r\n"},
    {"return tostring(tonumber(' 12 '))", "$2\r\n12\r\n"},
    {"return string.format('%d', 3.7)", "$1\r\n3\r\n"},
    {"return string.format('%.17g', 0.1)", "$19\r\n0.10000000000000001\r\n"},
    {"return redis.REDIS_VERSION or 'none'", "$5\r\n7.2.0\r\n"},
    {"return redis.REDIS_VERSION_NUM or 'none'", ":459264\r\n"},
    {"return type(redis.acl_check_cmd)", "$8\r\nfunction\r\n"},
    {"return type(os.clock)",
     "-ERR user_script:1: Script attempted to access nonexistent global variable 'os' script: "
     "a77c6b6a35d742ce4fa4148cd19b1d66c90f8fe7, on @user_script:1.\r\n"},
    {"return type(os.time)",
     "-ERR user_script:1: Script attempted to access nonexistent global variable 'os' script: "
     "d4e4a4a930d26a0d288bb80bc99a01d9acd0851a, on @user_script:1.\r\n"},
    {"return type(loadstring)", "$8\r\nfunction\r\n"},
    {"return type(print)",
     "-ERR user_script:1: Script attempted to access nonexistent global variable 'print' script: "
     "296aa29e565df267b5e30e498f3872c9f9e8e8cc, on @user_script:1.\r\n"},
    {"return type(require)",
     "-ERR user_script:1: Script attempted to access nonexistent global variable 'require' script: "
     "a10ff9bcfafac54cee41502b0e65e31ab05862c3, on @user_script:1.\r\n"},
    {"return type(unpack)", "$8\r\nfunction\r\n"},
    {"return type(table.unpack)", "$3\r\nnil\r\n"},
    {"return type(setfenv)",
     "-ERR user_script:1: Script attempted to access nonexistent global variable 'setfenv' script: "
     "ceaddaad3558d2f10cbb8082ea10e1b63f3ac0ea, on @user_script:1.\r\n"},
    {"return math.random()", ":0\r\n"},
    {"return redis.call('keys','z*')", "*1\r\n$1\r\nz\r\n", {}, "zadd"},
    {"return redis.call('mget','nokey1','nokey2')", "*2\r\n$-1\r\n$-1\r\n", "*2\r\n_\r\n_\r\n"},
    {"return redis.call('info','server')==nil", "$-1\r\n", "_\r\n"},
    {"return {1,{2,{3,'x'}}}", "*2\r\n:1\r\n*2\r\n:2\r\n*2\r\n:3\r\n$1\r\nx\r\n"},
    {"return redis.call('set','k','v','NX')", "$-1\r\n", "_\r\n"},
    {"return tostring(redis.call('set','k','v','NX'))", "$5\r\nfalse\r\n"},
    {"return redis.call('set','k','v')['ok']", "$2\r\nOK\r\n"},
    {"return redis.call('exists','k')<1 and redis.call('setex','k',10,'v')", "$-1\r\n", "_\r\n"},
    {"redis.call('del','k') return redis.call('exists','k')<1 and redis.call('setex','k',10,'v')",
     "+OK\r\n"},
    {"redis.log(redis.LOG_WARNING,'x') return 1", ":1\r\n"},
    {"return redis.breakpoint and 1 or 0", ":1\r\n"},
    {"return redis.set_repl and 1 or 0", ":1\r\n"},
    {"return redis.REPL_ALL or 'none'", ":3\r\n"},
    {"#!lua flags=no-writes\nreturn 1", ":1\r\n"},
    {"#!lua flags=no-writes\nreturn redis.call('set','a',1)",
     "-ERR Write commands are not allowed from read-only scripts. script: "
     "36dfcf40eac5d9221c568698818560e04c0903bd, on @user_script:2.\r\n"},
    {"return redis.call('setex','k',0,'v')",
     "-ERR invalid expire time in 'setex' command script: "
     "2d16786e177c2bff3d165072b6959c912d361f67, on @user_script:1.\r\n",
     "?"},
    {"return redis.call('set','k','v','EX',0)",
     "-ERR invalid expire time in 'set' command script: f729284ae21af2eab076cac69260028cb90a88a6, "
     "on @user_script:1.\r\n",
     "?"},
    {"return redis.call('pexpire','k',1500.7)",
     "-ERR value is not an integer or out of range script: "
     "c9a2c050cd229bbaea29ec1f4001859f60b65bfb, on @user_script:1.\r\n",
     "?"},
    {"return redis.call('expire','k',2^31)", ":1\r\n", "?"},
    {"return redis.call('set','k',1)", "+OK\r\n"},
    {"return redis.call('incrby','k',1.0)", ":2\r\n", "?"},
    {"return redis.call('incrby','k',1.5)",
     "-ERR value is not an integer or out of range script: "
     "f97ce74e44fbeefa12257615cf0eb4620250d79d, on @user_script:1.\r\n",
     "?"},
    {"local t={} for i=1,7990 do t[i]=i end return #{unpack(t)}", ":7990\r\n", "?"},
    {"local t={} for i=1,8001 do t[i]=i end return #{unpack(t)}",
     "-ERR user_script:1: too many results to unpack script: "
     "4d9888bb08c3c6c7dca1e5fb30beac665e0c88c3, on @user_script:1.\r\n",
     "?"},
    {"local t={} for i=1,5000 do t[i]=i end return redis.call('lpush','l',unpack(t,1,5000))",
     ":5000\r\n", "?", "lpush"},
    {"return redis.call('zadd','ze',1795227160663.3306,1795227160663.3306)", ":1\r\n", "?", "zadd"},
    {"return redis.call('zremrangebyscore','ze','-inf','('..1795227160663.5)", ":1\r\n", "?",
     "zremrangebyscore"},
    {"return tostring(1795227160663.5)", "$15\r\n1795227160663.5\r\n", "?"},
    {"local a,b='1719234234.1235','1719234235' return {a>=b, a<=b}", "*2\r\n$-1\r\n:1\r\n", "?"},
    {"return redis.call('subscribe','x')",
     "-ERR This Redis command is not allowed from script script: "
     "2f334966be3d5602175118691c9d198b0a695e53, on @user_script:1.\r\n",
     "?", "subscribe"},
    {"return redis.call('multi')",
     "-ERR This Redis command is not allowed from script script: "
     "c329a1a294be6bf95b44144f7502610661ae925a, on @user_script:1.\r\n",
     "?", "multi"},
    {"return redis.call('evalsha','f',0)",
     "-ERR This Redis command is not allowed from script script: "
     "539e4aa2f34bdd4db5dec1925af6c624d75af811, on @user_script:1.\r\n",
     "?"},
    {"return {1.0, 2.5, '3.5', -0.5}", "*4\r\n:1\r\n:2\r\n$3\r\n3.5\r\n:0\r\n", "?"},
    {"return redis.call('publish','ch','m')", ":0\r\n", "?", "publish"},
};

// In the order in which they were recorded, since scripts leave keys behind for later ones.
TEST(ScriptReplies, AreThoseOfRedisInBothProtocols) {
  FakeServer server;
  FakeServer other_server;
  const auto second = server.connect();
  const auto third = other_server.connect();
  third->call({"HELLO", "3"});
  for (const Recorded& recorded : kRecorded) {
    SCOPED_TRACE(recorded.script);
    if (!recorded.needs.empty() && server->executor().table().find(recorded.needs) == nullptr)
      continue;
    EXPECT_EQ(second->call({"EVAL", recorded.script, "0"}), recorded.resp2);
    const std::string in_third = third->call({"EVAL", recorded.script, "0"});
    if (recorded.resp3 == "?") continue;
    const auto& other = recorded.resp3.empty() ? recorded.resp2 : recorded.resp3;
    EXPECT_EQ(in_third, other);
  }
}

}  // namespace
}  // namespace weir::server
