-- An id that a carrier gave to several parts has a row for each: the part belongs to the key of each day's table.
DO $$
DECLARE day text;
BEGIN
    FOR day IN SELECT tablename FROM pg_tables
        WHERE schemaname = current_schema() AND tablename ~ '^(retired_|)remote_[0-9]+$'
    LOOP
        EXECUTE (SELECT format('ALTER TABLE %I DROP CONSTRAINT %I', day, conname) FROM pg_constraint
                 WHERE contype = 'p' AND conrelid = to_regclass(quote_ident(day)));
        EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (carrier, key, raw, message, part)', day);
    END LOOP;
END $$;
