# memcached by the client Cache::Memcached::Fast, whose core is in C: not compressed. Sets that wait
# for no answer are those of `nowait`, in void context.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin;
use Cache::Memcached::Fast ();
use Harness ();

package Store;

sub refuses {
    my ($self, $case) = @_;
    return ($case->{protocol} || 'text') eq 'text' ? undef : 'it speaks the text protocol only';
}

sub open {
    my ($self, $job) = @_;
    my $case = $job->{case};
    $self->{noreply} = ($case->{reply} || 'waits') eq 'noreply';
    $self->{client} = Cache::Memcached::Fast->new({
        servers => [$job->{address}],
        nowait => $self->{noreply} ? 1 : 0,
        max_failures => 0,
        io_timeout => 5,
        connect_timeout => 5,
    });
}

sub put {
    my ($self, $key, $value) = @_;
    if ($self->{noreply}) {
        $self->{client}->set($key, $value);
        return;
    }
    $self->{client}->set($key, $value) or die "a set was refused\n";
}

sub get { $_[0]{client}->get($_[1]) }

sub get_many { $_[0]{client}->get_multi(@{ $_[1] }) }

sub close {
    my ($self) = @_;
    $self->{client}->nowait_push if $self->{noreply};
    delete $self->{client};
}

sub version { "Cache::Memcached::Fast $Cache::Memcached::Fast::VERSION, Perl $^V" }

package main;

Harness::run(bless {}, 'Store');
