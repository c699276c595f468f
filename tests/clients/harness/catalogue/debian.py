"""Clients and libraries of Ruby, PHP, Perl, Lua, C and nginx, in the versions of Debian 12."""

import sys

from .. import installs, installs_debian
from .client import Client, absent


def ruby_program(script, *packages, **extra):
    def prepare():
        installs_debian.packages("ruby", *packages)
        # Debian's Ruby alone sees Debian's packages.
        return ["/usr/bin/ruby", installs.CLIENTS / "ruby" / script], extra
    return prepare


def php_program(script, *packages, **extra):
    def prepare():
        installs_debian.packages("php-cli", *packages)
        return ["/usr/bin/php", installs.CLIENTS / "php" / script], {
            "CLIENTS_VERSION": installs_debian.version(packages[0]), **extra}
    return prepare


def nginx_program():
    """A Python program that starts nginx and asks it; the limiters in it are Lua."""
    installs_debian.packages("nginx-light", "libnginx-mod-http-lua", "lua-nginx-redis")
    return [sys.executable, installs.CLIENTS / "nginx/nginx.py"], {
        "PYTHONPATH": str(installs.CLIENTS / "python"),
        "CLIENTS_VERSION": installs_debian.version("lua-nginx-redis")}


def perl_program(package, library):
    def prepare():
        installs_debian.packages("perl", package)
        return ["/usr/bin/perl", installs.CLIENTS / "perl/bare.pl"], {"CLIENTS_LIBRARY": library}
    return prepare


def lua_program():
    installs_debian.packages("lua5.1", "lua-redis", "lua-socket")
    return ["/usr/bin/lua5.1", installs.CLIENTS / "lua/redis_lua.lua"], {}


def hiredis_program():
    installs_debian.packages("libhiredis-dev")
    return [installs_debian.c_program("hiredis.c", ["-lhiredis", "-lpthread"])], {}


NO_RUBY = "Debian 12 has no such package, and the registry of Ruby is not reached"
NO_PLUS_PLUS = "Debian 12 has no such package, and C++ has no registry that is reached"
RACK = ("puma", "ruby-rack-attack", "ruby-redis", "ruby-activesupport")
ILLUMINATE = ("php-illuminate-redis", "php-illuminate-cache", "php-illuminate-container")
SYMFONY = ("php-symfony-rate-limiter", "php-symfony-cache", "php-symfony-lock")
SYMFONY_PROVIDER = "`framework.cache.default_redis_provider: redis://HOST:PORT`"
LARAVEL = "`REDIS_HOST` and `REDIS_PORT`, as in config/database.php"
REDIS_RB = '`Redis.new(url: "redis://HOST:PORT")`'

RUBY = [
    Client("redis-rb", "redis-rb", "Ruby", (2,),
           ruby_program("redis_rb.rb", "ruby-redis", CLIENTS_DRIVER="ruby"), in_ci=True,
           configure=REDIS_RB),
    Client("redis-rb-hiredis", "redis-rb", "Ruby", (2,),
           ruby_program("redis_rb.rb", "ruby-redis", "ruby-hiredis", CLIENTS_DRIVER="hiredis"),
           via="hiredis-rb 0.6", configure=REDIS_RB),
    Client("redis-client-rb", "redis-client", "Ruby", (3,), absent(NO_RUBY)),
    Client("rack-attack", "Rack::Attack under Puma", "Ruby", (2,),
           ruby_program("rack_attack.rb", *RACK, CLIENTS_STORE="redis"), via="redis-rb 4.8",
           configure='`Rack::Attack.cache.store = Redis.new(url: "redis://HOST:PORT")`'),
    Client("rack-attack-rails", "Rack::Attack on Rails' cache store", "Ruby", (2,),
           ruby_program("rack_attack.rb", *RACK, CLIENTS_STORE="rails"), via="redis-rb 4.8",
           configure='`ActiveSupport::Cache::RedisCacheStore.new(url: "redis://HOST:PORT")`'),
    Client("sidekiq", "Sidekiq", "Ruby", (2,),
           ruby_program("sidekiq.rb", "ruby-sidekiq", "ruby-redis"), via="redis-rb 4.8",
           configure='`REDIS_URL=redis://HOST:PORT`, or `config.redis = { url: ... }`'),
    Client("sidekiq-throttled", "sidekiq-throttled", "Ruby", (2,), absent(NO_RUBY)),
]

PHP = [
    Client("phpredis", "phpredis", "PHP", (2,),
           php_program("bare.php", "php-redis", CLIENTS_LIBRARY="phpredis"), in_ci=True,
           configure="`$redis->connect(HOST, PORT)`"),
    Client("predis", "Predis", "PHP", (2,),
           php_program("bare.php", "php-predis", CLIENTS_LIBRARY="predis"),
           configure="`new Predis\\Client('tcp://HOST:PORT')`"),
    Client("illuminate-phpredis", "Laravel's limiters", "PHP", (2,),
           php_program("illuminate.php", *ILLUMINATE, "php-redis", CLIENTS_LIBRARY="phpredis"),
           via="phpredis 5.3", configure=LARAVEL),
    Client("illuminate-predis", "Laravel's limiters", "PHP", (2,),
           php_program("illuminate.php", *ILLUMINATE, "php-predis", CLIENTS_LIBRARY="predis"),
           via="Predis 1.1", configure=LARAVEL),
    Client("symfony-phpredis", "Symfony's rate limiters", "PHP", (2,),
           php_program("symfony.php", *SYMFONY, "php-redis", CLIENTS_LIBRARY="phpredis"),
           via="phpredis 5.3", configure=SYMFONY_PROVIDER),
    Client("symfony-predis", "Symfony's rate limiters", "PHP", (2,),
           php_program("symfony.php", *SYMFONY, "php-predis", CLIENTS_LIBRARY="predis"),
           via="Predis 1.1", configure=SYMFONY_PROVIDER),
]

OTHERS = [
    Client("lua-resty-redis", "lua-resty-redis in nginx", "Lua", (2,), nginx_program,
           via="nginx 1.22", in_ci=True, configure="`client:connect(HOST, PORT)`"),
    Client("redis-lua", "redis-lua", "Lua", (2,), lua_program,
           configure="`redis.connect(HOST, PORT)`"),
    Client("hiredis", "hiredis", "C", (2,), hiredis_program, in_ci=True,
           configure="`redisConnect(HOST, PORT)`"),
    Client("redis-plus-plus", "redis-plus-plus", "C++", (2,), absent(NO_PLUS_PLUS)),
    Client("redis-perl", "Redis.pm", "Perl", (2,), perl_program("libredis-perl", "Redis"),
           in_ci=True, configure="`Redis->new(server => 'HOST:PORT')`, or `REDIS_SERVER`"),
    Client("redis-fast-perl", "Redis::Fast", "Perl", (2,),
           perl_program("libredis-fast-perl", "Redis::Fast"), via="hiredis, its own copy",
           configure="`Redis::Fast->new(server => 'HOST:PORT')`, or `REDIS_SERVER`"),
]

CLIENTS = [*RUBY, *PHP, *OTHERS]
