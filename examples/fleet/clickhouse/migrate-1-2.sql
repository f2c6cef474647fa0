-- From version 1 of the schema, which had no containers, no times of loading and no sums, and kept one row of a recording
-- whatever it knew of the version. `load --migrate` runs this, then schema.sql, which makes what is new, then
-- migrate-1-2-rows.sql, and sums up every recording.
drop table if exists to_recordings;
drop table if exists to_methods;
drop table if exists to_types;
drop table if exists to_frames;
drop table if exists to_stacks;
drop table if exists to_ancestors;
drop table if exists to_allocated;
drop table if exists to_alive;
drop table if exists recording;
drop table if exists row;
rename table recordings to recordings_1;
