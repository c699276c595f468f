package report;

# What every Perl program of tests/clients shares: its orders, its report, its callers.
# The lines it writes are described in harness/session.py.

use strict;
use warnings;
use Exporter 'import';
use JSON::PP;
use Time::HiRes;

our @EXPORT = qw($PORT $IS_WEIR $IS_DURABLE $CALLERS say_line expect expect_between expect_error
    check need_weir need_durable together started now restart_server);

our $PORT = $ENV{CLIENTS_PORT};
our $IS_WEIR = $ENV{CLIENTS_SERVER} eq 'weir';
our $IS_DURABLE = $ENV{CLIENTS_DURABLE} eq '1';
our $CALLERS = 16;

$| = 1;
my $json = JSON::PP->new->canonical->allow_nonref->ascii;

sub say_line { print "$_[0]\n" }

sub shown {
    my ($value) = @_;
    return substr($json->encode($value), 0, 300);
}

# Numbers and their text are the same to Perl, and so they are here.
sub plain {
    my ($value) = @_;
    return ref $value eq 'ARRAY' ? [map { plain($_) } @$value] : defined $value ? "$value" : undef;
}

sub expect {
    my ($got, $wanted, $what) = @_;
    return if shown_whole(plain($got)) eq shown_whole(plain($wanted));
    die(($what // 'got') . ' ' . shown(plain($got)) . ', wanted ' . shown(plain($wanted)) . "\n");
}

sub shown_whole { return $json->encode($_[0]) }

sub expect_between {
    my ($low, $got, $high, $what) = @_;
    return if $low <= $got && $got <= $high;
    die(($what // 'got') . " $got, wanted $low to $high\n");
}

# What the library dies of, with the server's words in it.
sub expect_error {
    my ($text, $call) = @_;
    my $got = eval { $call->() };
    die('got ' . shown(plain($got)) . ", wanted an error with $text\n") if !$@;
    die("the error says $@, wanted $text\n") if index($@, $text) < 0;
}

# A skip is a reference to its reason; anything else that a check dies of is a failure.
sub check {
    my ($name, $body) = @_;
    if (eval { $body->(); 1 }) {
        say_line("ok $name");
    } elsif (ref $@ eq 'SCALAR') {
        say_line("skip $name: ${$@}");
    } else {
        my $why = join ' ', split ' ', $@;
        say_line("not ok $name: " . substr($why, 0, 600));
    }
}

sub need_weir { $IS_WEIR or die \'Redis has no CL.THROTTLE' }

sub need_durable { $IS_DURABLE or die \'the server keeps nothing over a restart' }

# Has so many processes run the body; the answer is a function that waits and has their results.
sub started {
    my ($body, $callers) = @_;
    my @handles;
    for my $index (1 .. $callers) {
        my $pid = open(my $handle, '-|') // die "no fork: $!\n";
        if (!$pid) {
            my $result = eval { $body->() } // "$@";
            print $json->encode($result);
            close STDOUT;
            kill 'KILL', $$; # no destructor of what the parent opened may run here
        }
        push @handles, $handle;
    }
    return sub {
        map { local $/; my $text = <$_>; close $_; $json->decode($text) } @handles;
    };
}

sub together { return started($_[0], $CALLERS)->() }

sub now { return Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) }

# Has the server killed and started again; returns when it answers.
sub restart_server {
    say_line('restart');
    defined(<STDIN>) or die "the server did not come back\n";
}

1;
