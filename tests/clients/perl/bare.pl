# Redis.pm and Redis::Fast as an application uses them: see README.md for what each check means.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use report;

my $class = $ENV{CLIENTS_LIBRARY};
eval "require $class" or die $@;

sub connected {
    return $class->new(server => "127.0.0.1:$PORT", encoding => undef, @_);
}

my $all_bytes = join '', map { chr } 0 .. 255;
my $client = connected(reconnect => 10, every => 10_000);
my %before;

# Commands that the library has no function for go out under their own name.
sub throttle {
    my ($by, @words) = @_;
    return [$by->__std_cmd('CL.THROTTLE', @words)] if $class eq 'Redis';
    no strict 'refs';
    my $method = 'CL.THROTTLE';
    return [$by->$method(@words)];
}

say_line('version ' . $class->VERSION);

check('handshake', sub {
    expect($client->ping, 'PONG');
    expect($client->echo('a b'), 'a b');
    expect([($client->role)[0, 1]], ['master', 0]);
});

check('client-name', sub {
    my $named = connected(name => 'named-client');
    $named->ping;
    expect([$client->client_list =~ /name=(\S+)/g], ['named-client']);
});

check('binary', sub {
    for my $value ('', "\0", $all_bytes, "\r\n\$5\r\n", $all_bytes x 4096) {
        expect($client->set("bin:$all_bytes", $value), 'OK');
        $client->get("bin:$all_bytes") eq $value or die "other bytes\n";
    }
    expect($client->strlen("bin:$all_bytes"), 1 << 20);
    expect($client->get('absent'), undef);
});

check('pipeline', sub {
    my @replies;
    for my $index (0 .. 499) {
        for my $words (['set', "pipe:$index", $index], ['get', "pipe:$index"]) {
            my ($name, @arguments) = @$words;
            $client->$name(@arguments, sub { push @replies, $_[1] // $_[0] });
        }
    }
    $client->wait_all_responses;
    expect(\@replies, [map { ('OK', $_) } 0 .. 499]);
});

check('transaction', sub {
    $client->multi;
    $client->incr('pipe:1');
    $client->hset('h', 'f', 1);
    $client->hgetall('h');
    expect([$client->exec], [2, 1, ['f', 1]]);
});

check('expiry', sub {
    expect($client->set('ttl', 'x'), 'OK');
    expect([$client->ttl('ttl'), $client->ttl('absent')], [-1, -2]);
    expect($client->expire('ttl', 100), 1);
    expect_between(99, $client->ttl('ttl'), 100);
    expect_between(99_000, $client->pttl('ttl'), 100_000);
    expect($client->persist('ttl'), 1);
    expect($client->set('soon', 'x', 'PX', 30), 'OK');
    Time::HiRes::sleep(0.06);
    expect([$client->get('soon'), $client->exists('soon')], [undef, 0]);
});

check('incr-concurrent', sub {
    my @replies = together(sub { my $mine = connected(); [map { $mine->incr('count') } 1 .. 100] });
    expect([sort { $a <=> $b } map { @$_ } @replies], [1 .. $CALLERS * 100]);
});

check('scan', sub {
    my %wanted = map { ("scan:$_" => 1) } 0 .. 999;
    $client->mset(map { ($_, 'x') } keys %wanted);
    my ($cursor, %found) = (0);
    do {
        ($cursor, my $keys) = $client->scan($cursor, 'MATCH', 'scan:*', 'COUNT', 50);
        $found{$_} = 1 for @$keys;
    } while ($cursor);
    expect([sort keys %found], [sort keys %wanted]);
});

check('script', sub {
    my $sha = $client->script_load('return {KEYS[1], ARGV[1] * 2, 3.9, false}');
    expect([$client->evalsha($sha, 1, 'k', 21)], ['k', 42, 3, undef]);
    expect_error('NOSCRIPT', sub { $client->evalsha('f' x 40, 0) });
});

check('throttle-figures', sub {
    need_weir();
    expect(throttle($client, 'user:42', 15, 30, 60), [0, 16, 15, -1, 2]);
    expect([map { throttle($client, 'five', 4, 1, 10)->[2] } 1 .. 5], [4, 3, 2, 1, 0]);
    my $denied = throttle($client, 'five', 4, 1, 10);
    expect([@$denied[0 .. 2]], [1, 5, 0]);
    expect_between(9, $denied->[3], 10);
});

check('throttle-concurrent', sub {
    need_weir();
    my @replies = together(sub {
        my $mine = connected();
        [map { throttle($mine, 'crowd', 99, 1, 3600)->[0] } 1 .. 20];
    });
    expect(scalar(grep { $_ == 0 } map { @$_ } @replies), 100, 'admitted');
});

check('errors', sub {
    $client->set('text', 'x');
    expect_error('not an integer', sub { $client->incr('text') });
    expect_error('unknown command', sub { $client->nosuch });
    expect_error('WRONGTYPE', sub { $client->lpush('text', 'y') });
    expect($client->get('text'), 'x');
});

check('password', sub {
    $client->config_set('requirepass', 'secret');
    eval {
        expect(connected(password => 'secret')->ping, 'PONG');
        my $refusal = $class eq 'Redis' ? 'WRONGPASS' : 'refused password';
        expect_error($refusal, sub { connected(password => 'wrong')->ping });
        expect_error('NOAUTH', sub { connected()->get('x') });
    };
    my $failure = $@;
    $client->config_set('requirepass', '');
    die $failure if $failure;
});

check('info', sub {
    my $fields = $client->info;
    expect([@$fields{qw(redis_mode role loading tcp_port)}], ['standalone', 'master', 0, $PORT]);
    $fields->{redis_version} =~ /^[7-9]\./ or die "version $fields->{redis_version}\n";
});

# Counts until ten increments went through after the restart; how many were acknowledged.
sub count_over {
    my ($flag) = @_;
    my ($mine, $acknowledged, $resumed) = (undef, 0, 0);
    while ($resumed < 10) {
        if (eval { $mine //= connected(); $mine->incr('traffic') }) {
            $acknowledged++;
            $resumed++ if -e $flag;
            next;
        }
        die $@ if -e $flag && time > (stat $flag)[9] + 10;
        undef $mine;
        Time::HiRes::sleep(0.01);
    }
    return $acknowledged;
}

check('restart', sub {
    $client->set('kept', $all_bytes);
    $client->setex('kept:ttl', 1000, 'x');
    throttle($client, 'limit', 9, 1, 1000) for 1 .. ($IS_WEIR ? 4 : 0);
    $before{at} = now();
    my $flag = ($ENV{TMPDIR} // '/tmp') . "/clients-perl-$$";
    my $counters = started(sub { count_over($flag) }, 4);
    Time::HiRes::sleep(0.3);
    restart_server();
    open(my $made, '>', $flag) or die "no flag: $!\n";
    my @sent = $counters->();
    unlink $flag;
    $before{acknowledged} = 0;
    $before{acknowledged} += $_ for @sent;
});

check('reconnect', sub { expect($client->ping, 'PONG') });

check('data-kept', sub {
    need_durable();
    $client->get('kept') eq $all_bytes or die "other bytes\n";
    expect_between(900, $client->ttl('kept:ttl'), 999);
    my $sent = $before{acknowledged};
    expect_between($sent, $client->get('traffic'), $sent + 4, 'stored writes');
});

check('limiter-kept', sub {
    need_weir();
    need_durable();
    my $reply = throttle($client, 'limit', 9, 1, 1000, 0);
    expect([@$reply[0 .. 3]], [0, 10, 6, -1]);
    my $passed = now() - $before{at};
    expect_between(4000 - $passed - 1, $reply->[4], 4001 - $passed, 'reset_after');
});

say_line('done');
