package Log::Any::Adapter::Tavola;

use strict;
use warnings;

our $VERSION = '0.1.0';

use parent qw(Log::Any::Adapter::Base);

use Log::Any::Adapter::Util ();
use Scalar::Util qw(weaken);
use Tavola::Log;

# The level of a shared log for each level of Log::Any.
my %LEVEL = (
    trace => 'trace', debug => 'debug', info => 'info', notice => 'info', warning => 'warn',
    error => 'error', critical => 'error', alert => 'error', emergency => 'error',
);

# Logs that adapters use, by name and options: Log::Any makes an adapter for each category.
my %opened;

# Log::Any calls this for each category that it meets.
sub init {
    my ($self) = @_;
    my %option = %$self;
    my $log = delete $option{log} // 'log';
    my $level = delete $option{log_level} // 'trace';
    # Log::Any adds the category.
    delete $option{category};
    $self->{most} = Log::Any::Adapter::Util::numeric_level($level)
        // Tavola::Error->throw("there is no log_level '$level'; Log::Any has emergency, alert, "
            . 'critical, error, warning, notice, info, debug and trace');
    if (ref $log) {
        my $names = join ', ', sort keys %option;
        Tavola::Error->throw("the log is open, so it takes no options: $names") if %option;
        $self->{log} = $log;
        return;
    }
    my $place = join "\0", $log, map { ($_, $option{$_} // '') } sort keys %option;
    $self->{log} = $opened{$place};
    return if $self->{log};
    $self->{log} = $opened{$place} = Tavola::Log->open($log, %option);
    weaken $opened{$place};
    return;
}

for my $name (Log::Any::Adapter::Util::logging_methods()) {
    my ($number, $level) = (Log::Any::Adapter::Util::numeric_level($name), $LEVEL{$name});
    no strict 'refs';
    *{$name} = sub {
        my ($self, $text) = @_;
        $self->{log}->$level($text) if $number <= $self->{most};
        return;
    };
    *{"is_$name"} = sub { return $number <= $_[0]{most} };
}

1;
