/* hiredis as an application uses it: see README.md for what each check means. */

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <unistd.h>

#include "report.h"

enum { kCalls = 100, kThrottles = 20 };

static redisContext* client;
static char all_bytes[256];

static redisContext* connected(void) {
  struct timeval limit = {10, 0};
  redisContext* context = redisConnectWithTimeout("127.0.0.1", server_port(), limit);
  if (context && !context->err) redisSetTimeout(context, limit);
  return context;
}

static redisReply* ask(redisContext* by, const char* format, ...) {
  va_list values;
  va_start(values, format);
  redisReply* reply = redisvCommand(by, format, values);
  va_end(values);
  expect(reply != NULL, "no reply to %s: %s", format, by->errstr);
  return reply;
}

static void expect_text(redisReply* reply, int type, const char* wanted) {
  if (!reply) return;
  bool holds = reply->type == type && reply->str && strcmp(reply->str, wanted) == 0;
  expect(holds, "got type %d '%s', wanted '%s'", reply->type, reply->str ? reply->str : "", wanted);
  freeReplyObject(reply);
}

static void expect_number(redisReply* reply, long long low, long long high) {
  if (!reply) return;
  bool holds =
      reply->type == REDIS_REPLY_INTEGER && reply->integer >= low && reply->integer <= high;
  expect(holds, "got type %d %lld '%s', wanted %lld to %lld", reply->type, reply->integer,
         reply->str ? reply->str : "", low, high);
  freeReplyObject(reply);
}

static void expect_error(redisReply* reply, const char* text) {
  if (!reply) return;
  bool holds = reply->type == REDIS_REPLY_ERROR && strstr(reply->str, text);
  expect(holds, "got type %d '%s', wanted an error with '%s'", reply->type,
         reply->str ? reply->str : "", text);
  freeReplyObject(reply);
}

static void handshake(void) {
  expect_text(ask(client, "PING"), REDIS_REPLY_STATUS, "PONG");
  expect_text(ask(client, "ECHO %s", "a b"), REDIS_REPLY_STRING, "a b");
}

static void expect_same_bytes(const char* value, size_t size) {
  expect_text(ask(client, "SET %b %b", all_bytes, sizeof all_bytes, value, size),
              REDIS_REPLY_STATUS, "OK");
  redisReply* reply = ask(client, "GET %b", all_bytes, sizeof all_bytes);
  if (!reply) return;
  expect(reply->type == REDIS_REPLY_STRING && (size_t)reply->len == size &&
             memcmp(reply->str, value, size) == 0,
         "other bytes of %zu", size);
  freeReplyObject(reply);
}

static void binary(void) {
  char* large = malloc(1 << 20);
  for (int index = 0; index < 1 << 20; ++index) large[index] = (char)index;
  expect_same_bytes("", 0);
  expect_same_bytes("\0", 1);
  expect_same_bytes("\r\n$5\r\n", 6);
  expect_same_bytes(all_bytes, sizeof all_bytes);
  expect_same_bytes(large, 1 << 20);
  free(large);
  redisReply* reply = ask(client, "GET absent");
  expect(reply && reply->type == REDIS_REPLY_NIL, "an absent key is not nil");
  freeReplyObject(reply);
}

static redisReply* next_reply(void) {
  void* reply = NULL;
  expect(redisGetReply(client, &reply) == REDIS_OK, "no reply: %s", client->errstr);
  return reply;
}

static void pipeline(void) {
  char text[16];
  for (int index = 0; index < 500; ++index) {
    redisAppendCommand(client, "SET pipe:%d %d", index, index);
    redisAppendCommand(client, "GET pipe:%d", index);
  }
  for (int index = 0; index < 500; ++index) {
    snprintf(text, sizeof text, "%d", index);
    expect_text(next_reply(), REDIS_REPLY_STATUS, "OK");
    expect_text(next_reply(), REDIS_REPLY_STRING, text);
  }
}

static void expiry(void) {
  expect_text(ask(client, "SET ttl x"), REDIS_REPLY_STATUS, "OK");
  expect_number(ask(client, "TTL ttl"), -1, -1);
  expect_number(ask(client, "TTL absent"), -2, -2);
  expect_number(ask(client, "EXPIRE ttl 100"), 1, 1);
  expect_number(ask(client, "PTTL ttl"), 99000, 100000);
  expect_number(ask(client, "PERSIST ttl"), 1, 1);
  expect_text(ask(client, "SET soon x PX 30"), REDIS_REPLY_STATUS, "OK");
  usleep(60000);
  expect_number(ask(client, "EXISTS soon"), 0, 0);
}

static void script(void) {
  redisReply* reply = ask(client, "EVAL %s 1 k 21", "return {KEYS[1], ARGV[1] * 2, 3.9, false}");
  if (!reply) return;
  expect(reply->type == REDIS_REPLY_ARRAY && reply->elements == 4 &&
             strcmp(reply->element[0]->str, "k") == 0 && reply->element[1]->integer == 42 &&
             reply->element[2]->integer == 3 && reply->element[3]->type == REDIS_REPLY_NIL,
         "a reply of type %d with %zu elements", reply->type, reply->elements);
  freeReplyObject(reply);
  expect_error(ask(client, "EVALSHA %s 0", "ffffffffffffffffffffffffffffffffffffffff"), "NOSCRIPT");
}

static void errors(void) {
  expect_text(ask(client, "SET text x"), REDIS_REPLY_STATUS, "OK");
  expect_error(ask(client, "INCR text"), "not an integer");
  expect_error(ask(client, "NOSUCH"), "unknown command");
  expect_error(ask(client, "LPUSH text y"), "WRONGTYPE");
  expect_text(ask(client, "GET text"), REDIS_REPLY_STRING, "x");
}

/* What one of the concurrent callers counts into: the sum of all replies shows each number once. */
static void* increment(void* sum) {
  redisContext* mine = connected();
  for (int call = 0; call < kCalls; ++call) {
    redisReply* reply = redisCommand(mine, "INCR count");
    if (reply) *(long long*)sum += reply->integer;
    freeReplyObject(reply);
  }
  redisFree(mine);
  return NULL;
}

static void* throttle(void* admitted) {
  redisContext* mine = connected();
  for (int call = 0; call < kThrottles; ++call) {
    redisReply* reply = redisCommand(mine, "CL.THROTTLE crowd 99 1 3600");
    bool is_admitted = reply && reply->elements == 5 && reply->element[0]->integer == 0;
    *(long long*)admitted += is_admitted;
    freeReplyObject(reply);
  }
  redisFree(mine);
  return NULL;
}

static long long together(void* (*body)(void*)) {
  pthread_t threads[kCallers];
  long long parts[kCallers] = {0}, sum = 0;
  for (int caller = 0; caller < kCallers; ++caller)
    pthread_create(&threads[caller], NULL, body, &parts[caller]);
  for (int caller = 0; caller < kCallers; ++caller) {
    pthread_join(threads[caller], NULL);
    sum += parts[caller];
  }
  return sum;
}

static void incr_concurrent(void) {
  long long last = kCallers * kCalls, sum = together(increment);
  expect(sum == last * (last + 1) / 2, "replies add up to %lld", sum);
}

static void throttle_concurrent(void) {
  if (!is_weir()) {
    expect(false, "skip Redis has no CL.THROTTLE");
    return;
  }
  long long admitted = together(throttle);
  expect(admitted == 100, "admitted %lld, wanted 100", admitted);
}

static void restart(void) {
  expect_text(ask(client, "SET kept %b EX 1000", all_bytes, sizeof all_bytes), REDIS_REPLY_STATUS,
              "OK");
  restart_server();
  expect(redisCommand(client, "PING") == NULL && client->err, "the old connection still answers");
  expect(redisReconnect(client) == REDIS_OK, "no new connection: %s", client->errstr);
  expect_text(ask(client, "PING"), REDIS_REPLY_STATUS, "PONG");
}

static void data_kept(void) {
  if (!is_durable()) {
    expect(false, "skip the server keeps nothing over a restart");
    return;
  }
  expect_number(ask(client, "STRLEN kept"), 256, 256);
  expect_number(ask(client, "TTL kept"), 900, 999);
  expect_text(ask(client, "GET count"), REDIS_REPLY_STRING, "1600");
}

int main(void) {
  for (int index = 0; index < 256; ++index) all_bytes[index] = (char)index;
  client = connected();
  printf("version %d.%d.%d\n", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
  check("handshake", handshake);
  check("binary", binary);
  check("pipeline", pipeline);
  check("expiry", expiry);
  check("script", script);
  check("errors", errors);
  check("incr-concurrent", incr_concurrent);
  check("throttle-concurrent", throttle_concurrent);
  check("restart", restart);
  check("data-kept", data_kept);
  redisFree(client);
  say("done");
  return 0;
}
