-- Few pages, as a rule, that are asked for without reading the others: those of which there is no copy to
-- keep fresh, and those with an appointment or a visit that failed.
CREATE INDEX pages_without_content ON pages (id) WHERE status > 2 OR rule < 0;
CREATE INDEX pages_noted ON pages (status, rule, next_at, failures)
    WHERE next_at IS NOT NULL OR failures > 0;
