-- Outcomes of the operations of each node, until the node has them: the answers may be lost with the node that runs the engine.
-- One row per batch; `last` is the last operation of the node in it.
CREATE TABLE outcome (
    node        bigint NOT NULL,
    epoch       bigint NOT NULL,
    last        bigint NOT NULL,
    outcomes    bytea NOT NULL,
    PRIMARY KEY (node, epoch, last)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
