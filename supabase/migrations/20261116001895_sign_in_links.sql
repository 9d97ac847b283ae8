-- Links that sign a user in to the console, once.

create table tickwork.sign_in_links (
  code_hash text primary key,
  user_id uuid not null,
  expires_at timestamptz not null
);

comment on table tickwork.sign_in_links is
  'Links to the console that have not been used yet. Only the hash of a code is kept.';

select tickwork.guard_table('tickwork.sign_in_links');

create function tickwork.create_sign_in_link(user_id uuid, valid_seconds integer)
returns text
language plpgsql
volatile
security definer -- nobody may read or write the links
set search_path = ''
as $$
declare
  code constant text := replace(tickwork.new_secret(), 'tw_', 'link_');
begin
  if create_sign_in_link.user_id is null or (create_sign_in_link.valid_seconds between 1 and 86400) is not true then
    raise exception 'valid_seconds: a link is for one user, and valid for 1 second to 1 day'
      using errcode = 'TWARG', hint = 'Pass the id of the user, and 600 for ten minutes.';
  end if;

  delete from tickwork.sign_in_links
  where sign_in_links.expires_at < clock_timestamp();

  insert into tickwork.sign_in_links (code_hash, user_id, expires_at)
  values (
    encode(sha256(convert_to(code, 'UTF8')), 'hex'), create_sign_in_link.user_id,
    clock_timestamp() + make_interval(secs => create_sign_in_link.valid_seconds)
  );
  return code;
end
$$;

create function public.create_sign_in_link(user_id uuid, valid_seconds integer default 600)
returns text
language sql
volatile
return tickwork.create_sign_in_link(user_id, valid_seconds);

comment on function public.create_sign_in_link is
  'Sets up a code that signs this user in to the console, once, and returns it: append it to the address of the '
  'console as /sign-in?code=… and send the browser there. Raises TWARG.';

create function tickwork.use_sign_in_link(code text)
returns uuid
language plpgsql
volatile
security definer -- nobody may read or write the links
set search_path = ''
as $$
declare
  signed_in uuid;
begin
  if session_user <> 'tickwork_api' and not tickwork.caller_is_service() then
    raise exception 'only the console may use a link'
      using errcode = 'TWADM', hint = 'Open the link in a browser.';
  end if;

  delete from tickwork.sign_in_links
  where sign_in_links.code_hash = encode(sha256(convert_to(use_sign_in_link.code, 'UTF8')), 'hex')
    and sign_in_links.expires_at >= clock_timestamp()
  returning sign_in_links.user_id into signed_in;

  if not found then
    raise exception 'this link has been used, or is too old'
      using errcode = 'TWAUT', hint = 'Ask for another one.';
  end if;

  return signed_in;
end
$$;

create function public.use_sign_in_link(code text)
returns uuid
language sql
volatile
return tickwork.use_sign_in_link(code);

comment on function public.use_sign_in_link is
  'Reads whom a link signs in to the console, and takes the link away. For the console only. Raises TWAUT, '
  'TWADM.';
