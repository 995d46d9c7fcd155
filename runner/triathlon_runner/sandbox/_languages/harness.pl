# The harness of a Perl child: loads a program, answers calls, asks what it is told to ask. It decides nothing.
# Frames on descriptors 3 and 4: one kind byte, the length as 4 little-endian bytes, JSON in a closed form.

package Triathlon::Harness;

use strict;
use warnings;
use B ();
use JSON::PP ();
use Scalar::Util qw(blessed reftype);

open(my $source, '<&=', 3) or die "no descriptor 3: $!";
open(my $sink,   '>&=', 4) or die "no descriptor 4: $!";
binmode($_) for $source, $sink;
$| = 1;

my $json  = JSON::PP->new->utf8->allow_nonref->allow_blessed;
my $limit = 0;

# The tests of the data set compare with this module; it need not be installed.
$INC{'Data/Compare.pm'} //= __FILE__;

sub serve {
    my ($program, $result_bytes, $relayed) = @{ receive() };
    $limit = $result_bytes;
    srand(0);
    for my $name (@$relayed) {
        no strict 'refs';
        *{"main::$name"} = sub { ask($name, @_) };
    }
    if (!load($program)) {
        report('N', $@);
        return;
    }
    send_frame('L', '');
    while (my $message = receive()) {
        answer($message->[0], map { decode($_) } @{ $message->[1] });
    }
}

sub load {
    my ($program) = @_;
    eval { Triathlon::Program::run($program); 1 };
}

sub ask {
    my ($function, @arguments) = @_;
    send_frame('Q', $json->encode([$function, [map { encode($_) } @arguments]]));
    my $answer = receive() or exit 1;
    my ($good, $value) = @$answer;
    die join(': ', @$value) . "\n" unless $good;
    return decode($value);
}

sub answer {
    my ($function, @arguments) = @_;
    my $text = eval {
        no strict 'refs';
        my $value = &{"main::$function"}(@arguments);
        my $encoded = $json->encode(encode($value));
        die "the result is too large\n" if length($encoded) > $limit;
        $encoded;
    };
    defined $text ? send_frame('V', $text) : report('E', $@);
}

sub encode {
    my ($value) = @_;
    my $kind = ref($value) or return without_form($value) ? { f => named($value) } : $value;
    return [map { encode($_) } @$value] if $kind eq 'ARRAY';
    return { m => [map { [$_, encode($value->{$_})] } sort keys %$value] } if $kind eq 'HASH';
    return { u => $kind };
}

# Whether a scalar is a number (not text that reads like one) for which JSON has no form.
sub without_form {
    my ($value) = @_;
    return 0 unless defined $value;
    my $flags = B::svref_2object(\$value)->FLAGS;
    return 0 if $flags & B::SVp_POK() || !($flags & B::SVp_NOK());
    return $value != $value || $value - $value != 0;
}

sub named {
    my ($value) = @_;
    return $value != $value ? 'nan' : $value > 0 ? 'inf' : '-inf';
}

sub decode {
    my ($value) = @_;
    return $value ? 1 : 0 if JSON::PP::is_bool($value);
    my $kind = ref($value) or return $value;
    return [map { decode($_) } @$value] if $kind eq 'ARRAY';
    my ($tag, $content) = %$value;
    return { map { (decode($_->[0]) => decode($_->[1])) } @$content } if $tag eq 'm';
    return [map { decode($_) } @$content] if $tag eq 's';
    return $content + 0 if $tag eq 'f';
    return $content if $tag =~ /^[iy]$/;
    return sub { $content };
}

sub report {
    my ($kind, $error) = @_;
    my $type = ref($error) || 'die';
    my ($line) = "$error" =~ /\(eval \d+\) line (\d+)/;
    send_frame($kind, $json->encode([$type, substr("$error", 0, 2000), defined $line ? $line + 0 : undef]));
}

sub send_frame {
    my ($kind, $payload) = @_;
    my $data = $kind . pack('V', length $payload) . $payload;
    while (length $data) {
        my $sent = syswrite($sink, $data) // exit 1;
        substr($data, 0, $sent, '');
    }
}

sub receive {
    my $header = take(5);
    return undef if length($header) < 5;
    return $json->decode(take(unpack('V', substr($header, 1))));
}

sub take {
    my ($size) = @_;
    my $data = '';
    while (length($data) < $size) {
        my $got = sysread($source, $data, $size - length($data), length($data)) // exit 1;
        last if $got == 0;
    }
    return $data;
}

package Data::Compare;

sub import { no strict 'refs'; *{ caller() . '::Compare' } = \&Compare; }

sub Compare {
    my ($left, $right) = @_;
    return !defined $left && !defined $right ? 1 : 0 unless defined $left && defined $right;
    return 0 unless ref($left) eq ref($right);
    return $left eq $right ? 1 : 0 unless ref($left) eq 'ARRAY' || ref($left) eq 'HASH';
    if (ref($left) eq 'ARRAY') {
        return 0 unless @$left == @$right;
        Compare($left->[$_], $right->[$_]) || return 0 for 0 .. $#$left;
        return 1;
    }
    return 0 unless keys %$left == keys %$right;
    exists $right->{$_} && Compare($left->{$_}, $right->{$_}) || return 0 for keys %$left;
    return 1;
}

package Triathlon::Program;

# Nothing lexical of the harness is in scope here, and no pragma.
sub run {
    no strict;
    no warnings;
    $_[0] =~ s/^__(?:END|DATA)__\b.*//ms;
    # A documentation's line counts only where a line begins.
    eval "package main;\n#line 1\n$_[0]\n;1" or die $@;
}

Triathlon::Harness::serve();
