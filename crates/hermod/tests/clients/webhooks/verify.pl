use strict;
use warnings;
use Digest::SHA qw(hmac_sha256_hex);

# $body: the octets of the request, before anything parses them. $signature: X-SVC-Signature.
sub is_genuine {
    my ($body, $signature, $secret) = @_;
    my $expected = hmac_sha256_hex($body, $secret);
    return 0 if length $expected != length $signature;
    # Every character is looked at, so that the time tells nothing.
    my $differs = 0;
    $differs |= ord(substr $expected, $_, 1) ^ ord(substr $signature, $_, 1) for 0 .. length($expected) - 1;
    return $differs == 0;
}

# In a handler: unless is_genuine(...), answer 403 and do nothing else.
unless (caller) {
    my ($secret, $signature) = @ARGV;
    binmode STDIN;
    my $body = do { local $/; <STDIN> } // '';
    exit(is_genuine($body, $signature, $secret) ? 0 : 1);
}
1;
