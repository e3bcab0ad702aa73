# Runs every example of the documentation, and looks for calls that have none.
use strict;
use warnings;

use lib 't/lib';
use Cwd ();
use File::Spec ();
use Test::More;
use TavolaTest;

# The pages run in folders of their own.
@INC = map { ref $_ ? $_ : File::Spec->rel2abs($_) } @INC;

my @modules = qw(
    Tavola Tavola::Transaction Tavola::Queue Tavola::Log Tavola::Error Tavola::FastMmap
    Tavola::Memcached Tavola::Depot Tavola::CDB CHI::Driver::Tavola Log::Any::Adapter::Tavola
);
my $has_chi = eval { require CHI; 1 };
my $has_log_any = eval { require Log::Any; 1 };

# Returns the text of a file of documentation.
sub text_of {
    my ($file) = @_;
    open my $handle, '<:encoding(UTF-8)', $file or die "$file: $!";
    return do { local $/; <$handle> };
}

# Returns the code of a page: the indented lines of POD, or the fenced ones of Markdown.
sub code_of {
    my ($file) = @_;
    my $text = text_of($file);
    if ($file =~ /\.md\z/) {
        return join "\n", $text =~ /^```perl\n(?!\# not run)(.*?)^```/gms;
    }
    return join "\n", map { /\A\s/ ? $_ : () } split /\n/, $text;
}

# Makes a test of each line that ends with `# => VALUE`.
sub with_tests {
    my ($code) = @_;
    $code =~ s{^(\s*)(\S.*?);\s+\# => (.+)$}
              {$1main::is_deeply([ $2 ], [ $3 ], \$main::example = q\x01$2\x01);}gm;
    return $code;
}

# Returns the sections of calls in POD, by the name of the call: the part of the page that they are
# in, and whether they have an example. Headings without text between them share a section.
sub sections_of {
    my ($text) = @_;
    my ($part, @waiting, %section) = ('');
    for my $piece (split /^(?==head[12] )/m, $text) {
        my ($level, $title, $body) = $piece =~ /\A=head([12]) ([^\n]+)\n(.*)\z/s or next;
        if ($level == 1) {
            ($part, @waiting) = ($title);
            next;
        }
        push @waiting, $title;
        $section{$title} = { part => $part, has_code => 0 };
        next if $body !~ /^(?!=cut)\S/m && $body !~ /^ +\S/m;
        $section{$_}{has_code} = $body =~ /^ +\S/m for @waiting;
        @waiting = ();
    }
    return %section;
}

my $number = 0;
our $example;

# Runs the code of a page as one program.
sub run_page {
    my ($file) = @_;
    my $code = with_tests(code_of($file));
    my $package = 'Example' . ++$number;
    # Each page has a directory of tables for itself, and a working directory for durable ones.
    local $ENV{TAVOLA_DIR} = "$ENV{TAVOLA_DIR}/$package";
    my $before = Cwd::getcwd();
    mkdir "$ENV{TAVOLA_DIR}.disk" or die $!;
    chdir "$ENV{TAVOLA_DIR}.disk" or die $!;
    local $SIG{__WARN__} = sub { note(@_) };
    local $@;
    my $program = "package $package; use strict; use warnings; no warnings 'void';\n$code\n;1;";
    my $is_good = eval $program;    ## no critic (ProhibitStringyEval)
    ok($is_good, 'the program runs to its end') or diag($@);
    chdir $before or die $!;
    return;
}

for my $module (@modules) {
    my $file = 'lib/' . $module =~ s{::}{/}gr . '.pod';
    my $lacks = $module =~ /\ACHI/ && !$has_chi ? 'CHI'
        : $module =~ /\ALog/ && !$has_log_any ? 'Log::Any' : undef;
    subtest "$module: examples" => sub {
        plan skip_all => "$lacks is not installed" if $lacks;
        run_page($file);
    };
    next if $lacks;
    subtest "$module: every call has a section with an example" => sub {
        my $text = text_of($file);
        my %section = sections_of($text);
        my $code = code_of($file);
        eval "require $module; 1" or die $@;    ## no critic (ProhibitStringyEval)
        no strict 'refs';
        my @calls = grep { defined &{"${module}::$_"} && /\A[a-z]/ } sort keys %{"${module}::"};
        # What was imported is not a call of the module.
        my $imported = 'import|bootstrap|has|extends|with|before|after|around|isa|blessed|confess|weaken';
        @calls = grep { !/\A(?:$imported)\z/ } @calls;
        @calls = grep { $_ ne 'new' } @calls if $module =~ /CHI/;
        for my $call (@calls) {
            my $section = $section{$call};
            ok($section, "$call: has a section") or next;
            # What only CHI or Log::Any calls is shown by no example.
            next if $section->{part} =~ / INTERFACE\z/;
            ok($section->{has_code} && $code =~ /(?:->|::)\Q$call\E\b/, "$call: has an example");
        }
        my @stale = grep { !/ / && !$module->can($_) }
            sort keys %section;
        is("@stale", '', 'no section is of a call that is missing');
        cmp_ok(scalar(@calls), '>', 0, 'there are calls');
    };
}

subtest 'README.md' => sub { run_page('README.md') };

# The pages for those who come from other modules are in the repository, not in the distribution.
for my $name (qw(bring-your-data constant-files coming-from-chi coming-from-qdbm locks)) {
    my $page = ($ENV{TAVOLA_PERL_SOURCE} // '.') . "/../../docs/guide/$name.md";
    subtest "$name.md" => sub {
        plan skip_all => 'the page is not in the distribution' if !-f $page;
        plan skip_all => 'CHI is not installed' if $name =~ /chi/ && !$has_chi;
        run_page($page);
    };
}

done_testing;
