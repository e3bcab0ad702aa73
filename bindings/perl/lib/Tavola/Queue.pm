package Tavola::Queue;

use strict;
use warnings;

our $VERSION = '0.1.0';

# The methods are in the extension.
use Tavola;

1;
