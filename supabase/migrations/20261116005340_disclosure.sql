-- Parts of a passport for an audience, with the proof that they belong to what was signed. Nothing else is read from
-- the bundle: the other leaves are in it as hashes of documents with salts, which nobody can guess.

create function tickwork.audience_sees(audience text, access text)
returns boolean
language sql
immutable
-- Annex XIII: no audience is above another one, both of the restricted ones see what the other does not.
return case audience
  when 'public' then access = 'public'
  when 'legitimate_interest' then access in ('public', 'restricted', 'legitimate_interest')
  when 'authorities' then access in ('public', 'restricted', 'authorities')
  else false
end;

comment on function tickwork.audience_sees is 'Whether an audience may see attributes of an access class.';

create function tickwork.tree_levels(level bytea)
returns bytea[]
language plpgsql
immutable
as $$
declare
  levels bytea[] := array[level];
begin
  while octet_length(level) > 32
  loop
    -- A last hash without a neighbour moves up as it is (RFC 9162).
    level := (
      select string_agg(case octet_length(pair.hashes) when 64 then sha256('\x01' || pair.hashes) else pair.hashes end,
        '' order by pair.number)
      from (
        select number, substring(level from number * 64 + 1 for 64) as hashes
        from generate_series(0, (octet_length(level) - 1) / 64) as number
      ) as pair
    );
    levels := levels || level;
  end loop;

  return levels;
end
$$;

comment on function tickwork.tree_levels is
  'The levels of the tree of RFC 9162 over the hashes of its leaves, each level as one string of hashes: the leaves '
  'first, the root last.';

create function tickwork.inclusion_proof(levels bytea[], index integer)
returns json
language sql
immutable
as $$
  select coalesce(
    json_agg(encode(substring(levels[depth + 1] from neighbour * 32 + 1 for 32), 'hex') order by depth), '[]'
  )
  from generate_series(0, cardinality(levels) - 2) as depth
  cross join lateral (select (index >> depth) # 1) as beside(neighbour)
  where neighbour * 32 < octet_length(levels[depth + 1]);
$$;

comment on function tickwork.inclusion_proof is
  'The hashes beside the way from a leaf to the root, from the bottom up, in hex.';

create function tickwork.shown_leaves(version public.passport_versions, audience text, paths text[])
returns json
language plpgsql
stable
as $$
declare
  leaves constant json[] := array(
    select json_array_elements(convert_from((version).proof_canonical, 'UTF8')::json -> 'leaves')
  );
  levels bytea[];
  missing text;
begin
  -- As text and not as jsonb: those are the very bytes that were hashed.
  levels := tickwork.tree_levels((
    select string_agg(sha256('\x00' || convert_to(leaf.document::text, 'UTF8')), '' order by leaf.number)
    from unnest(leaves) with ordinality as leaf(document, number)
  ));

  select wanted.path into missing
  from unnest(shown_leaves.paths) as wanted(path)
  where not exists (
    select
    from unnest(leaves) as leaf(document)
    where leaf.document ->> 'kind' = 'attribute'
      and leaf.document ->> 'path' = wanted.path
      and tickwork.audience_sees(shown_leaves.audience, leaf.document ->> 'access')
  )
  limit 1;

  if found then
    raise exception 'paths: there is no attribute % that the audience % may see', quote_nullable(left(missing, 200)),
      shown_leaves.audience
      using errcode = 'TWARG', hint = 'Leave paths out to show all that the audience may see.';
  end if;

  return (
    select coalesce(json_agg(json_build_object(
      'index', leaf.number - 1,
      'leaf', leaf.document,
      'path', tickwork.inclusion_proof(levels, (leaf.number - 1)::integer)
    ) order by leaf.number), '[]')
    from unnest(leaves) with ordinality as leaf(document, number)
    where leaf.document ->> 'kind' = 'attribute'
      and tickwork.audience_sees(shown_leaves.audience, leaf.document ->> 'access')
      and (shown_leaves.paths is null or leaf.document ->> 'path' = any (shown_leaves.paths))
  );
end
$$;

comment on function tickwork.shown_leaves is
  'The attributes of a version that the audience may see, or those of the given paths, each with its proof. Facts are '
  'never among them, since their hashes have no salt. Raises TWARG.';

create function tickwork.disclose(passport_version_id uuid, audience text, paths text[])
returns json
language plpgsql
stable
security definer -- the functions of the tree are not for callers
set search_path = ''
as $$
declare
  version public.passport_versions;
begin
  select * into version
  from public.passport_versions
  where passport_versions.id = disclose.passport_version_id
    and tickwork.may_act_for(passport_versions.tenant_id);

  if not found then
    perform tickwork.raise_no_passport_version(disclose.passport_version_id);
  end if;

  if (disclose.audience in ('public', 'legitimate_interest', 'authorities')) is not true then
    raise exception 'audience: must be public, legitimate_interest or authorities, not %',
      quote_nullable(left(disclose.audience, 100))
      using errcode = 'TWARG', hint = 'They are the audiences of Annex XIII.';
  elsif version.signature is null then
    raise exception 'passport_version_id: the version is not signed yet'
      using errcode = 'TWSTA', hint = 'explain_passport says what it is waiting for.';
  end if;

  return json_build_object(
    'type', 'BPC-BUNDLE-1',
    'audience', disclose.audience,
    'receipt', convert_from(version.receipt_canonical, 'UTF8')::json,
    'signature', translate(encode(version.signature, 'base64'), E'\n', ''),
    'signing_key_id', version.signing_key_id,
    'signing_key_public', translate(encode(version.signing_key_public, 'base64'), E'\n', ''),
    'leaves', tickwork.shown_leaves(version, disclose.audience, disclose.paths)
  );
end
$$;

create function public.disclose(passport_version_id uuid, audience text default 'public', paths text[] default null)
returns json
language sql
stable
return tickwork.disclose(passport_version_id, audience, paths);

comment on function public.disclose is
  'Reads a bundle (BPC-BUNDLE-1) of a signed version to give to an audience: public, legitimate_interest or '
  'authorities. It holds the attributes that the audience may see, or those of the given paths, and proves each of '
  'them. Raises TWPAS, TWSTA, TWARG.';

select tickwork.open_verbs('authenticated, service_role', array['disclose']);
