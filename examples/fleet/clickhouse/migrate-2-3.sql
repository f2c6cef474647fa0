-- From version 2 of the schema, whose sums were of whole recordings, without variances and minutes: every run made them all
-- again, however long a process had been recorded. `load --migrate` runs this, then schema.sql, then touched.sql, and sums up.
drop table if exists inclusive_now;
drop table if exists made_now;
drop table if exists newest;
drop table if exists amounts;
drop table if exists rolled;
drop table if exists inclusive;
drop table if exists made;
