-- Erasures of phone numbers, by keyed digests of the numbers. Account 0: all accounts.
CREATE TABLE erasure (
    digest      bytea NOT NULL,
    account     bigint NOT NULL,
    at          bigint NOT NULL,
    PRIMARY KEY (digest, account)
);
