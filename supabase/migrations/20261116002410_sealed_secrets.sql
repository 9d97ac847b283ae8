-- What a caller has sealed before it comes to the database.

create function tickwork.check_sealed(field text, value text)
returns void
language plpgsql
immutable
as $$
begin
  if not check_sealed.value ~ '^v1\.[0-9a-f]{8}\.[A-Za-z0-9_=-]+$' or length(check_sealed.value) > 20000 then
    raise exception '%: is not a sealed secret', check_sealed.field
      using errcode = 'TWARG', hint = 'Only what holds TICKWORK_SECRET_KEY can seal one: leave that to the HTTP API.';
  end if;
end
$$;

comment on function tickwork.check_sealed is
  'Returns if the value is null or looks like what tickwork.tools.secrets seals: a secret in the clear must not be '
  'stored as a sealed one. Raises TWARG.';
