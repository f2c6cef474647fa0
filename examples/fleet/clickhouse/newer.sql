-- Beside schema.sql, for servers of 2020 and later (tried with 26.7; 18.16 knows none of it): what is old goes by itself,
-- and columns are packed by what is in them. `load --newer` runs it. Change the days to what you want to keep.

alter table allocated modify ttl minute + interval 90 day;
alter table inclusive modify ttl day + interval 400 day;
alter table made modify ttl day + interval 400 day;
alter table by_minute modify ttl day + interval 400 day;
alter table rolled modify ttl day + interval 400 day;
alter table touched modify ttl day + interval 400 day;
alter table allocated modify column minute DateTime codec(DoubleDelta, ZSTD(3));
alter table allocated modify column bytes UInt64 codec(T64, ZSTD(3));
alter table allocated modify column allocs UInt64 codec(T64, ZSTD(3));
alter table allocated modify column seen_bytes UInt64 codec(T64, ZSTD(3));
alter table allocated modify column seen_allocs UInt64 codec(T64, ZSTD(3));
alter table methods modify column name String codec(ZSTD(6));
