-- signed, active or superseded -> revoked.

create function tickwork.revoke_passport(passport_version_id uuid, reason text)
returns public.passport_version_overview
language plpgsql
volatile
security definer -- members may not update passport versions directly
set search_path = ''
as $$
declare
  version public.passport_versions := tickwork.lock_passport_version_for_caller(revoke_passport.passport_version_id);
  revoked public.passport_version_overview;
begin
  if (length(revoke_passport.reason) between 1 and 1000) is not true then
    raise exception 'reason: must be 1 to 1000 characters'
      using errcode = 'TWARG', hint = 'Say why: it is in the event passport.revoked and stays with the version.';
  elsif version.status not in ('signed', 'active', 'superseded') then
    raise exception 'passport_version_id: the version is %, and only what was signed can be revoked', version.status
      using errcode = 'TWSTA', hint = 'get_passport shows the versions of the passport.';
  end if;

  update public.passport_versions
  set
    status = 'revoked',
    revoked_at = clock_timestamp(),
    revocation_reason = revoke_passport.reason
  where passport_versions.id = version.id
  returning * into version;

  perform tickwork.add_passport_event(
    'passport.revoked', version, jsonb_build_object('reason', version.revocation_reason)
  );

  select * into revoked
  from public.passport_version_overview
  where passport_version_overview.id = version.id;

  return revoked;
end
$$;

create function public.revoke_passport(passport_version_id uuid, reason text)
returns public.passport_version_overview
language sql
volatile
return tickwork.revoke_passport(passport_version_id, reason);

comment on function public.revoke_passport is
  'Sets a signed, active or superseded version revoked, for good; the passport can get a new version. Emits '
  'passport.revoked, and has the status list signed again. Raises TWPAS, TWARG, TWSTA, TWENQ, TWAUT.';

select tickwork.open_verbs('authenticated, service_role', array['revoke_passport']);
