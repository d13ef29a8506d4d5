# A customer made with Perl's Net::SMPP. Its one argument is a JSON object (see `Customer` in tests/it/clients); it binds,
# sends one message of every kind, waits for the receipts, asks about the first message and unbinds. Whatever it saw it
# says on standard output, one JSON object per line.
use strict;
use warnings;

# Net::SMPP knows no TLS, but a class that is both will do: the socket under it is all that changes.
package SecureSMPP;
use Net::SMPP;
use IO::Socket::SSL;
our @ISA = ('IO::Socket::SSL', 'Net::SMPP');

package main;
use Encode ();
use JSON::PP ();

use constant GSM_OCTETS_PER_PART => 153;
use constant LONG_REFERENCE      => 0x5a;

$| = 1;
my $json    = JSON::PP->new->canonical->ascii;
my $options = JSON::PP->new->utf8->decode($ARGV[0]);
my %receipts;

sub saw {
    my ($what, %more) = @_;
    print $json->encode({ saw => $what, %more }), "\n";
}

# As a number, which JSON::PP would otherwise write as it was last used.
sub number { return defined $_[0] ? 0 + $_[0] : undef }

# A TLV's text ends with a null.
sub text { my ($octets) = @_; $octets =~ s/\0\z// if defined $octets; return $octets }

sub on_deliver {
    my ($link, $pdu) = @_;
    my $reference = $pdu->{user_message_reference};
    saw('receipt',
        bound_as               => ${*$link}{bound_as},
        text                   => $pdu->{short_message},
        esm_class              => number($pdu->{esm_class}),
        data_coding            => number($pdu->{data_coding}),
        registered_delivery    => number($pdu->{registered_delivery}),
        source                 => $pdu->{source_addr},
        source_ton             => number($pdu->{source_addr_ton}),
        destination            => $pdu->{destination_addr},
        destination_ton        => number($pdu->{dest_addr_ton}),
        receipted_message_id   => text($pdu->{receipted_message_id}),
        message_state          => defined $pdu->{message_state} ? unpack('C', $pdu->{message_state}) : undef,
        user_message_reference => defined $reference ? unpack('n', $reference) : undef,
    );
    $link->deliver_sm_resp(seq => $pdu->{seq}, message_id => '');
    $receipts{ ${*$link}{bound_as} }++;
}

# The library drops whatever it is not waiting for, so receipts are given to a handler.
my %handlers = (
    Net::SMPP::CMD_enquire_link, \&Net::SMPP::handle_enquire_link,
    Net::SMPP::CMD_deliver_sm,   \&on_deliver,
);

sub bind_as {
    my ($command) = @_;
    my $link = Net::SMPP->new_connect(
        $options->{host},
        port      => $options->{port},
        system_id => $options->{system_id},
        password  => $options->{password},
        handlers  => {%handlers},
    ) or die "no connection: $!";
    if ($options->{ca}) {
        SecureSMPP->start_SSL(
            $link,
            SSL_ca_file         => $options->{ca},
            SSL_hostname        => 'localhost',
            SSL_verifycn_name   => 'localhost',
            SSL_verifycn_scheme => 'default',
        ) or die "no TLS: $IO::Socket::SSL::SSL_ERROR";
    }
    ${*$link}{bound_as} = $command;
    my $answer = $link->$command() or die "no answer to $command";
    my $version = $answer->{sc_interface_version};
    saw('bind',
        command              => $command,
        status               => number($answer->status),
        system_id            => $answer->{system_id},
        sc_interface_version => defined $version ? unpack('C', $version) : undef,
        tls                  => $options->{ca} ? JSON::PP::true : JSON::PP::false,
    );
    return $answer->status == 0 ? $link : undef;
}

# The library leaves alphabets and headers to its user.
sub gsm { return Encode::encode('gsm0338', $_[0], Encode::FB_CROAK | Encode::LEAVE_SRC) }

sub parts {
    my @pieces = unpack sprintf('(a%d)*', GSM_OCTETS_PER_PART), gsm($_[0]);
    my $number = 0;
    return map { pack('C6 a*', 5, 0, 3, LONG_REFERENCE, scalar @pieces, ++$number, $_) } @pieces;
}

sub messages {
    my $text  = gsm($options->{text});
    my $flash = gsm($options->{flash});
    return (
        ['short', short_message => $text, user_message_reference => pack('n', $options->{reference})],
        (map { ['parts', short_message => $_, esm_class => Net::SMPP::ESM_feature_UDHI] } parts($options->{long})),
        ['payload', message_payload => gsm($options->{long})],
        ['ucs2', short_message => Encode::encode('UTF-16BE', $options->{ucs2}), data_coding => 8],
        ['flash by subunit', short_message => $flash, dest_addr_subunit => pack('C', 1)],
        ['flash by coding', short_message => $flash, data_coding => 0x10],
        ['binary', short_message => pack('H*', $options->{binary}), data_coding => 4],
        ['refused', short_message => $text, destination_addr => $options->{refused}],
    );
}

sub submit {
    my ($link, $name, %fields) = @_;
    my $answer = $link->submit_sm(
        source_addr_ton     => Net::SMPP::TON_alphanumeric,
        source_addr_npi     => Net::SMPP::NPI_unknown,
        source_addr         => $options->{source},
        dest_addr_ton       => Net::SMPP::TON_international,
        dest_addr_npi       => Net::SMPP::NPI_isdn,
        registered_delivery => Net::SMPP::REG_receipt_always,
        destination_addr    => $options->{destination},
        %fields,
    ) or die "no answer to $name";
    saw('submit', name => $name, status => number($answer->status), message_id => $answer->{message_id});
    return $answer;
}

sub query {
    my ($link, $id) = @_;
    my $answer = $link->query_sm(
        message_id      => $id,
        source_addr_ton => Net::SMPP::TON_alphanumeric,
        source_addr_npi => Net::SMPP::NPI_unknown,
        source_addr     => $options->{source},
    ) or die 'no answer to query_sm';
    saw('query',
        status        => number($answer->status),
        message_id    => $answer->{message_id},
        message_state => number($answer->{message_state}),
        error_code    => number($answer->{error_code}),
        final         => $answer->{final_date} ? JSON::PP::true : JSON::PP::false,
    );
}

sub unbind {
    my ($link) = @_;
    my $answer = $link->unbind() or die 'no answer to unbind';
    saw('unbind', bound_as => ${*$link}{bound_as}, status => number($answer->status));
    my $read = $link->sysread(my $octet, 1);
    saw('close', bound_as => ${*$link}{bound_as}) if !$read;
}

my $pair     = $options->{binds} eq 'pair';
my $receiver = bind_as($pair ? 'bind_receiver' : 'bind_transceiver') or exit 0;
my $sender   = $pair ? bind_as('bind_transmitter') || exit 0 : $receiver;

my @accepted = grep { $_->status == 0 } map { submit($sender, @$_) } messages();
while (($receipts{ ${*$receiver}{bound_as} } || 0) < @accepted) {
    my $pdu = $receiver->read_pdu() or die 'the link was lost';
    my $handler = $handlers{ $pdu->{cmd} };
    $handler->($receiver, $pdu) if $handler;
}
query($sender, $accepted[0]{message_id});
my $alive = $sender->enquire_link() or die 'no answer to enquire_link';
saw('enquire_link', status => number($alive->status));
unbind($_) for $pair ? ($sender, $receiver) : ($sender);
