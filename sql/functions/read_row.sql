create or replace function posthaste_private.read_row(record text, relation oid) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive fields as (
    select v.position, case
        when v.part[1] = '' then null
        when v.part[1] like '"%' then replace(replace(substr(v.part[1], 2, length(v.part[1]) - 2), '""', '"'), '\\', '\')
        else v.part[1] end as value
    from regexp_matches(substr(read_row.record, 2, length(read_row.record) - 2), '("(?:[^"\\]|""|\\\\)*"|[^,"]*)(?:,|$)', 'g')
      with ordinality v(part, position)
  ), columns as (
    select a.attname, a.atttypid as type, row_number() over (order by a.attnum) as position
    from pg_attribute a where a.attrelid = read_row.relation and a.attnum > 0 and not a.attisdropped
  ), bases (attname, position, type, base) as (
    select c.attname, c.position, c.type, t.typbasetype from columns c join pg_type t on t.oid = c.type
    union all
    select b.attname, b.position, b.base, t.typbasetype from bases b join pg_type t on t.oid = b.base
  )
  select coalesce(jsonb_object_agg(b.attname, case
      when f.value is null then null
      when b.type in ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'numeric'::regtype, 'float4'::regtype, 'float8'::regtype)
        and f.value ~ '^[-+0-9.e]+$' then to_jsonb(f.value::numeric)
      when b.type = 'bool'::regtype then to_jsonb(f.value::boolean)
      when b.type in ('json'::regtype, 'jsonb'::regtype) then f.value::jsonb
      when b.type = 'timestamptz'::regtype then to_jsonb(f.value::timestamptz)
      when b.type = 'timestamp'::regtype then to_jsonb(f.value::timestamp)
      when t.typcategory = 'A' then to_jsonb(f.value::text[])
      else to_jsonb(f.value)
    end), '{}')
  from bases b join fields f on f.position = b.position join pg_type t on t.oid = b.type
  where b.base = 0
$$;
comment on function posthaste_private.read_row(text, oid) is 'A row of a table as a JSON object, read from its text. Unlike to_jsonb() it calls no function of a column''s type: whoever makes a type could give it a cast to json, which would run with the rights of the caller. Values of such types become strings, arrays of them arrays of strings.';
revoke all on function posthaste_private.read_row(text, oid) from public;
